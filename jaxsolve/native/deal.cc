// Deals of hold'em for sampled CFR: cards by counting, buckets by look-up, strength at the showdown.

#include <algorithm>
#include <cstdint>

#include "action_tree.h"
#include "buckets.h"
#include "random.h"
#include "strength.h"

extern "C" {

// Fills bucket [count, players, streets] and rank [count, players] of deals first to first + count.
void JaxsolveDeal(uint64_t seed, int64_t first, int64_t count, int32_t players, int32_t streets,
                  const Buckets* buckets, uint16_t* bucket, int32_t* rank, uint8_t* cards_out) {
  const int board = kBoardCards[streets - 1], dealt = 2 * players + board;
  for (int64_t k = 0; k < count; ++k, bucket += players * streets, rank += players) {
    const uint64_t key = PassKey(seed, first + k);
    uint8_t deck[kDeck];
    for (int c = 0; c < kDeck; ++c) deck[c] = c;
    for (int i = 0; i < dealt; ++i) {
      const uint64_t drawn = Mix(key ^ i) >> 32;
      std::swap(deck[i], deck[i + static_cast<int>(drawn * (kDeck - i) >> 32)]);
    }
    const uint8_t* shown = deck + 2 * players;
    int32_t hand[kMostPlayers];
    for (int p = 0; p < players; ++p) hand[p] = HandNumber(deck[2 * p], deck[2 * p + 1]);
    for (int s = 0; s < streets; ++s) {
      const Buckets::Row row = buckets->At(s, shown);
      for (int p = 0; p < players; ++p) bucket[p * streets + s] = row[hand[p]];
    }
    Suits common;
    for (int i = 0; i < board; ++i) common.Add(shown[i]);
    for (int p = 0; p < players; ++p) {
      Suits all = common;
      all.Add(deck[2 * p]);
      all.Add(deck[2 * p + 1]);
      rank[p] = board == 5 ? Strength(all) : 0;
    }
    if (cards_out) {
      std::copy(deck, deck + dealt, cards_out);
      cards_out += dealt;
    }
  }
}

// Fills bucket [count, players, streets] and rank [count, players] of deals with hands drawn from
// ranges, double [players, hands] of running sums, on a board of `known` cards; `own` has the buckets
// [hands] of `street`. Returns 1 where some hands met each other in all `tries`.
int32_t JaxsolveDealRanges(uint64_t seed, int64_t first, int64_t count, int32_t players,
                           int32_t streets, int32_t street, int32_t known, int32_t tries,
                           const Buckets* buckets, const uint8_t* board, const double* ranges,
                           const uint16_t* own, uint16_t* bucket, int32_t* rank) {
  uint8_t pair[kHands][2];
  for (int a = 0; a < kDeck; ++a) {
    for (int b = a + 1; b < kDeck; ++b) {
      const int number = HandNumber(a, b);
      pair[number][0] = a, pair[number][1] = b;
    }
  }
  uint64_t out = 0;
  for (int i = 0; i < known; ++i) out |= uint64_t{1} << board[i];
  for (int64_t k = 0; k < count; ++k, bucket += players * streets, rank += players) {
    const uint64_t key = PassKey(seed, first + k);
    uint64_t drawn = 0, used = out;
    int32_t hand[kMostPlayers];
    int tried = 0;
    for (int p = 0; p < players; ++p) {
      if (p == 0) used = out;
      const double* range = ranges + static_cast<int64_t>(p) * kHands;
      const double at = static_cast<double>(Mix(key ^ drawn++) >> 11) * 0x1p-53;
      hand[p] = std::min<int64_t>(std::upper_bound(range, range + kHands, at) - range, kHands - 1);
      const uint64_t cards =
          uint64_t{1} << pair[hand[p]][0] | uint64_t{1} << pair[hand[p]][1];
      if (used & cards) {
        if (++tried >= tries) return 1;
        p = -1;  // all hands anew, so that none is favoured
        continue;
      }
      used |= cards;
    }
    uint8_t shown[5], deck[kDeck];
    int left = 0;
    for (int c = 0; c < kDeck; ++c) {
      if (!(used >> c & 1)) deck[left++] = c;
    }
    std::copy(board, board + known, shown);
    for (int i = known; i < 5; ++i) {
      const uint64_t number = Mix(key ^ (uint64_t{1} << 32 | i)) >> 32;
      const int at = static_cast<int>(number * left >> 32);
      shown[i] = deck[at];
      deck[at] = deck[--left];
    }
    for (int s = 0; s < streets; ++s) {
      for (int p = 0; p < players; ++p) bucket[p * streets + s] = 0;
      if (s < street) continue;
      const Buckets::Row row = s == street ? Buckets::Row{own, nullptr} : buckets->At(s, shown);
      for (int p = 0; p < players; ++p) bucket[p * streets + s] = row[hand[p]];
    }
    Suits common;
    for (int i = 0; i < 5; ++i) common.Add(shown[i]);
    for (int p = 0; p < players; ++p) {
      Suits all = common;
      all.Add(pair[hand[p]][0]);
      all.Add(pair[hand[p]][1]);
      rank[p] = Strength(all);
    }
  }
  return 0;
}

}  // extern "C"

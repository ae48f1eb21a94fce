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

}  // extern "C"

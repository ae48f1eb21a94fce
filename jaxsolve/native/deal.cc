// Deals of hold'em for sampled CFR: cards by counting, buckets by look-up, strength at the showdown.

#include <algorithm>
#include <cstdint>

#include "random.h"
#include "strength.h"

namespace {

constexpr int kDeck = 52, kHands = 1326, kMostPlayers = 10;
constexpr int kBoard[4] = {0, 3, 4, 5};

// C(card, k), for the numbers of boards.
struct Choose {
  int32_t at[6][kDeck] = {};
  constexpr Choose() {
    for (int c = 0; c < kDeck; ++c) at[0][c] = 1;
    for (int k = 1; k < 6; ++k) {
      for (int c = 1; c < kDeck; ++c) at[k][c] = at[k][c - 1] + at[k - 1][c - 1];
    }
  }
};
constexpr Choose kChoose;

int32_t HandNumber(int a, int b) {
  const int low = std::min(a, b), high = std::max(a, b);
  return low * (2 * kDeck - 1 - low) / 2 + high - low - 1;
}

}  // namespace

extern "C" {

// Fills bucket [count, players, streets] and rank [count, players] of deals first to first + count.
// `code[s]` and `table[s]` are of the flop, turn and river; see `jaxsolve/holdem/_canonical.py`.
void JaxsolveDeal(uint64_t seed, int64_t first, int64_t count, int32_t players, int32_t streets,
                  const uint16_t* preflop, const uint32_t* const* code,
                  const uint16_t* const* table, const uint16_t* hand_after, uint16_t* bucket,
                  int32_t* rank, uint8_t* cards_out) {
  const int board = kBoard[streets - 1], dealt = 2 * players + board;
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
    for (int p = 0; p < players; ++p) {
      hand[p] = HandNumber(deck[2 * p], deck[2 * p + 1]);
      bucket[p * streets] = preflop[hand[p]];
    }
    uint8_t sorted[5];
    for (int s = 1; s < streets; ++s) {
      const int size = kBoard[s];
      std::copy(shown, shown + size, sorted);
      std::sort(sorted, sorted + size);
      int32_t number = 0;
      for (int i = 0; i < size; ++i) number += kChoose.at[i + 1][sorted[i]];
      const uint32_t found = code[s - 1][number];
      const uint16_t* row = table[s - 1] + static_cast<int64_t>(found >> 5) * kHands;
      const uint16_t* after = hand_after + (found & 31) * kHands;
      for (int p = 0; p < players; ++p) bucket[p * streets + s] = row[after[hand[p]]];
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

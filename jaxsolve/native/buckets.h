// Buckets of hands on boards; the numbers are those of `jaxsolve/holdem/_canonical.py`.

#ifndef JAXSOLVE_BUCKETS_H_
#define JAXSOLVE_BUCKETS_H_

#include <algorithm>
#include <cstdint>

constexpr int kDeck = 52, kHands = 1326, kStreets = 4;
constexpr int kBoardCards[kStreets] = {0, 3, 4, 5};

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

inline int32_t HandNumber(int a, int b) {
  const int low = std::min(a, b), high = std::max(a, b);
  return low * (2 * kDeck - 1 - low) / 2 + high - low - 1;
}

// The tables of an abstraction; `code` and `table` are of the flop, turn and river.
struct Buckets {
  const uint16_t* preflop;      // [hands]
  const uint32_t* code[3];      // [boards], canonical row << 5 | permutation of suits
  const uint16_t* table[3];     // [canonical boards, hands]
  const uint16_t* hand_after;   // [permutations, hands]

  // The buckets of all hands on one street of a board.
  struct Row {
    const uint16_t *row, *after;
    uint16_t operator[](int hand) const { return row[after ? after[hand] : hand]; }
  };

  Row At(int street, const uint8_t* board) const {
    if (street == 0) return {preflop, nullptr};
    const int size = kBoardCards[street];
    uint8_t sorted[5];
    std::copy(board, board + size, sorted);
    std::sort(sorted, sorted + size);
    int32_t number = 0;
    for (int i = 0; i < size; ++i) number += kChoose.at[i + 1][sorted[i]];
    const uint32_t found = code[street - 1][number];
    return {table[street - 1] + static_cast<int64_t>(found >> 5) * kHands,
            hand_after + (found & 31) * kHands};
  }
};

#endif  // JAXSOLVE_BUCKETS_H_

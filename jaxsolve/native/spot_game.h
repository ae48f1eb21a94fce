// A hold'em spot of two players as tables: betting by street, boards, hands, leaves, and the state
// that a solver keeps.
//
// The betting of a street is the same on each of its boards, so it is described once: rows are
// decisions, parents before children, and sequences (a row and one of its actions) are numbered
// through the street, player by player. A *state* array holds a number for each board, sequence and
// hand of a player. Each player has a list of hands; what two hands have to do with each other is
// found by places in one order of all hands on the board.

#ifndef JAXSOLVE_SPOT_GAME_H_
#define JAXSOLVE_SPOT_GAME_H_

#include <cstdint>

constexpr int kSpotStreets = 4;

struct SpotRow {
  int32_t first, width;  // sequences
  int32_t parent;        // the sequence before, or -1 - entry where that is on the street before
};

struct SpotLeaf {
  int32_t sequence[2];  // of either player; -1 for the empty one
  float amount[2];      // chips that either player wins or loses
};

// Betting that can be worked on by itself.
struct SpotPart {
  int32_t row_begin[2], row_end[2];
  int32_t sequence_begin[2], sequence_end[2];
  int32_t leaf_begin[3], leaf_end[3];  // by kind
};

struct SpotStreet {
  int64_t boards, parts, rows[2], sequences[2], entries[2];
  const int32_t* parent;       // [boards], board of the street before
  const int32_t* child;        // [boards + 1], first board of the street after
  const float* chance;         // [boards], probability of the board by the weight of a pair of hands
  const int32_t* image_begin;  // [boards + 1], symmetries of the board
  const int32_t* place[2];     // [boards, hands], `all` for hands that meet the board
  const int32_t* gap[2];       // [boards, all - hands], places of hands that are not in the list
  const uint8_t* pair;         // [boards, all, 2], the cards of the hand at each place
  const int32_t* high;         // [boards, all], place after the tie group of each place
  const int32_t* count;        // [boards], hands that do not meet the board
  const int16_t* matrix;       // [boards, hands of 0, hands of 1], wins minus losses of an all-in
  double unit;                 // weight of one of them
  const SpotRow* row[2];
  const SpotLeaf* leaf;
  const SpotPart* part;
  const int32_t* entry[2];  // [entries], the sequences of the street before that go on here
  const int32_t* lock[2];   // [boards, rows], where the strategy is in `locked`, or -1; may be null
};

struct SpotGame {
  int64_t streets, all, hands[2];
  const float* root[2];     // [hands], reach at the root
  const int32_t* image[2];  // [symmetries, hands]
  const float* locked[2];   // [sequences that are locked, hands]; a hand whose sum is 0 is free
  SpotStreet street[kSpotStreets];
};

// Arrays [boards, sequences, hands], street after street. Numbers of 16 bits have a scale for each
// board and sequence.
struct SpotState {
  int64_t bits;
  void* regret[2];
  void* mean[2];  // of own reach
  float* regret_scale[2];
  float* mean_scale[2];
  float* play[2];  // policy of the next iteration where it does not follow from regrets; or null
};

// Where the numbers of a street begin, in sequences.
inline int64_t SpotOffset(const SpotGame& game, int player, int street) {
  int64_t offset = 0;
  for (int s = 0; s < street; ++s) offset += game.street[s].boards * game.street[s].sequences[player];
  return offset;
}

#endif  // JAXSOLVE_SPOT_GAME_H_

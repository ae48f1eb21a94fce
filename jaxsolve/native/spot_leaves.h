// What the leaves of a spot pay, W at a time, one per SIMD lane.

#ifndef JAXSOLVE_SPOT_LEAVES_H_
#define JAXSOLVE_SPOT_LEAVES_H_

#include <vector>

#include "lanes.h"
#include "spot_game.h"

struct SpotTiles {
  explicit SpotTiles(int64_t all) : tiles(all) {}
  Tiles tiles;
  std::vector<float> row;
};

// Rows [hands] of sequences from `first` on, and that of the empty one.
struct SpotSequences {
  float *rows, *empty;
  int64_t first, hands;

  float* operator()(int32_t sequence) const {
    return sequence < 0 ? empty : rows + (sequence - first) * hands;
  }
};

// Adds what leaves of one kind on a board pay a player: `reach` has the sequences of the other player,
// `value` those of the one who is paid. All-ins pay hands `begin` to `end`.
void SpotPay(const SpotGame& game, const SpotStreet& street, int64_t board, int player, int kind,
             int64_t first, int64_t last, const SpotSequences& reach, const SpotSequences& value,
             SpotTiles& scratch, int64_t begin = 0, int64_t end = -1);

#endif  // JAXSOLVE_SPOT_LEAVES_H_

// What players do beyond a depth limit: a blueprint, and the same with some actions more likely.

#ifndef JAXSOLVE_CONTINUATIONS_H_
#define JAXSOLVE_CONTINUATIONS_H_

#include <cstdint>

#include "action_tree.h"

struct Continuations {
  const void* sums;     // of the blueprint's average policy, [sequence, bucket]
  const float* factor;  // [count, 3], of folds, of checks and calls, of bets and raises
  int32_t count, half;  // `half` is 1 for sums of 16 bits
};

// Fills policy [variants, actions] of a fixed node with a bucket.
inline void Follow(const Game& game, const Continuations& from, const Node& node, int32_t bucket,
                   int variants, float* policy) {
  const int count = node.count;
  const int64_t at = node.row + static_cast<int64_t>(bucket) * count;
  float base[kMostActions];
  if (from.half) {
    Match<Half>(static_cast<const uint16_t*>(from.sums) + at, count, base);
  } else {
    Match<Full>(static_cast<const float*>(from.sums) + at, count, base);
  }
  for (int j = 0; j < variants; ++j, policy += count) {
    const float* factor = from.factor + 3 * j;
    float total = 0;
    for (int a = 0; a < count; ++a) {
      policy[a] = base[a] * factor[game.nodes[node.child + a].kind];
      total += policy[a];
    }
    for (int a = 0; a < count; ++a) policy[a] = total > 0 ? policy[a] / total : base[a];
  }
}

#endif  // JAXSOLVE_CONTINUATIONS_H_

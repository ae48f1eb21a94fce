// Leaves of one kind that are gathered first and paid together, W at a time.

#ifndef JAXSOLVE_LEAF_LISTS_H_
#define JAXSOLVE_LEAF_LISTS_H_

#include <vector>

#include "boards.h"

struct LeafList {
  std::vector<float> amount;
  std::vector<const float*> reach;  // of the other player
  std::vector<float*> value;        // gets what the player wins

  void Add(float chips, const float* from, float* to) {
    amount.push_back(chips);
    reach.push_back(from);
    value.push_back(to);
  }

  void Pay(int kind, const Boards& boards, int32_t board, Tiles& tiles) const {
    const int32_t task[4] = {kind, board, 0, static_cast<int32_t>(amount.size())};
    ::Pay(boards, task, amount.data(), [&](int64_t k) { return reach[k]; },
          [&](int64_t k) { return value[k]; }, tiles);
  }

  void Clear() {
    amount.clear();
    reach.clear();
    value.clear();
  }
};

#endif  // JAXSOLVE_LEAF_LISTS_H_

// What two known strategies of hold'em win against each other on complete boards, over all hands.
//
// The walk carries the reach of every hand of both players down the public actions; an end pays the
// sum over pairs of hands that share no card.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "action_tree.h"
#include "boards.h"

namespace {

// Hands on a board, in order of strength.
struct Board {
  int32_t hands;
  const uint8_t* pair;      // [hands, 2]
  const int32_t* high;      // [hands], where the tie group of each place ends
  const uint16_t* bucket;   // [2, stages, hands]
};

// Ends of one kind, worked on W at a time; see `boards.h`.
class Ends {
 public:
  Ends(const Board& board, int kind)
      : hands_(board.hands), kind_(kind), reach_(2 * W * board.hands), tiles_(board.hands) {
    boards_ = {board.hands, nullptr, board.pair, board.high, &hands32_, nullptr};
    hands32_ = board.hands;
  }

  void Add(double amount, const float* r0, const float* r1) {
    std::copy(r0, r0 + hands_, Reach(0, used_));
    std::copy(r1, r1 + hands_, Reach(1, used_));
    amount_[used_++] = amount;
    if (used_ == W) Flush();
  }

  double Total() {
    Flush();
    return total_;
  }

 private:
  float* Reach(int player, int lane) { return reach_.data() + (player * W + lane) * hands_; }

  void Flush() {
    if (used_ == 0) return;
    const float* from[W];
    for (int l = 0; l < W; ++l) from[l] = Reach(1, std::min(l, used_ - 1));
    Load(hands_, from, nullptr, tiles_.reach());
    if (kind_ == kFold) Fold(boards_, 0, tiles_.reach(), tiles_.value());
    if (kind_ == kShowdown) Showdown(boards_, 0, tiles_.reach(), tiles_.value());
    for (int l = 0; l < W; ++l) from[l] = Reach(0, std::min(l, used_ - 1));
    Load(hands_, from, nullptr, tiles_.reach());
    Lane sum = {};
    for (int64_t h = 0; h < hands_; ++h) sum += tiles_.reach()[h] * tiles_.value()[h];
    for (int l = 0; l < used_; ++l) total_ += amount_[l] * sum[l];
    used_ = 0;
  }

  const int64_t hands_;
  const int kind_;
  int32_t hands32_ = 0;
  Boards boards_;
  std::vector<float> reach_;
  Tiles tiles_;
  double amount_[W], total_ = 0;
  int used_ = 0;
};

struct Walker {
  const Node* nodes[2];   // of both players: buckets, and so rows, may differ
  const int32_t* spent;   // [ends, 2]
  const uint8_t* folded;  // [ends, 2]
  const float* policy[2];  // of player 0 and 1, [sequence, bucket]; sums, not yet probabilities
  const Board* board;
  int32_t stages;
  const int32_t* num_buckets[2];  // [stages]
  Ends *folds, *showdowns;

  void Walk(int32_t number, const float* r0, const float* r1) {
    const Node& node = nodes[0][number];
    if (node.count == 0) {
      const int32_t* spent = this->spent + 2 * node.end;
      const uint8_t* folded = this->folded + 2 * node.end;
      if (folded[0] || folded[1]) {
        folds->Add(folded[0] ? -spent[0] : spent[1], r0, r1);
      } else {
        showdowns->Add(std::min(spent[0], spent[1]), r0, r1);
      }
      return;
    }
    const int n = board->hands, count = node.count;
    const float* sums = policy[node.actor] + nodes[node.actor][number].row;
    const uint16_t* bucket = board->bucket + (node.actor * stages + node.stage) * n;
    const float* reach = node.actor == 0 ? r0 : r1;
    const int buckets = num_buckets[node.actor][node.stage];
    std::vector<float> work(static_cast<size_t>(buckets) * count + n);
    float *share = work.data(), *next = share + static_cast<size_t>(buckets) * count;
    for (int b = 0; b < buckets; ++b) {
      const float* sum = sums + static_cast<int64_t>(b) * count;
      float total = 0;
      for (int a = 0; a < count; ++a) total += std::max(sum[a], 0.0f);
      const float scale = total > 0 ? 1 / total : 0, even = total > 0 ? 0 : 1.0f / count;
      for (int a = 0; a < count; ++a) share[a * buckets + b] = std::max(sum[a], 0.0f) * scale + even;
    }
    for (int a = 0; a < count; ++a) {
      const float* of = share + a * buckets;
      float most = 0;
      for (int h = 0; h < n; ++h) {
        next[h] = reach[h] * of[bucket[h]];
        most = next[h] > most ? next[h] : most;
      }
      if (most == 0) continue;
      if (node.actor == 0) Walk(node.child + a, next, r1);
      if (node.actor == 1) Walk(node.child + a, r0, next);
    }
  }
};

}  // namespace

extern "C" {

// Returns the chips that player 0 wins on average over all pairs of hands on one board.
double JaxsolveMatch(const void* nodes, const void* others, const int32_t* spent, const uint8_t* folded,
                     const float* first, const float* second, int32_t stages,
                     const int32_t* buckets, int32_t hands, const uint8_t* pair,
                     const int32_t* high, const uint16_t* bucket) {
  const Board board{hands, pair, high, bucket};
  Ends folds(board, kFold), showdowns(board, kShowdown), pairs(board, kFold);
  const std::vector<float> all(hands, 1.0f);
  pairs.Add(1, all.data(), all.data());
  Walker walker{{static_cast<const Node*>(nodes), static_cast<const Node*>(others)}, spent, folded,
                {first, second}, &board, stages, {buckets, buckets + stages},
                &folds, &showdowns};
  walker.Walk(0, all.data(), all.data());
  return (folds.Total() + showdowns.Total()) / pairs.Total();
}

}  // extern "C"

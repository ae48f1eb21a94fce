// Vectors of hands on sampled boards; `jaxsolve/mccfr/_vector.py` is the same in JAX.
//
// A pass updates both players on one complete board, one after the other. The reach of all hands of
// the other player goes down the public actions, and the values of all hands of the player come back
// up. Work goes street by street: the actions of a street below one node of the street before, breadth
// first, so that the rows in use stay in a cache; its ends W at a time; then the next street below each
// of its last nodes. The rivers below one turn are done together, since each is small.
//
// A node of the other player needs no values of its own: its children add theirs to the row of the
// action above that is the player's. A node of the player needs no reach of its own.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "action_tree.h"
#include "board_hands.h"
#include "leaf_lists.h"
#include "random.h"

namespace {

struct VectorOptions {
  uint64_t seed;
  int64_t first, count;       // passes first to first + count - 1
  double unit, power, until;  // weight of pass k: (1 + min(k, until) / unit) ^ power
  double roulette;            // see `Expand`; 0 keeps every action
};

struct Item {
  int32_t node;
  const float* reach;  // of the other player
  float* value;        // gets what the player wins here
  float* share;        // [present, actions], of a decision of the player
  int32_t below;       // place of the first child in the list
};

class Sweep {
 public:
  Sweep(const Game& game, const VectorOptions& options, const Buckets& buckets, float* regret,
        float* average)
      : game_(game), options_(options), buckets_(buckets), regret_(regret), average_(average) {}

  void Run(int64_t pass, const uint8_t* board) {
    key_ = PassKey(options_.seed, pass);
    const double step = 1 + std::min<double>(pass, options_.until) / options_.unit;
    weight_ = static_cast<float>(std::pow(step, options_.power));
    hands_.Deal(buckets_, board, game_.stages);
    int32_t widest = 0;
    for (int s = 0; s < game_.stages; ++s) {
      rows_[s].Reset(hands_.street(s).slots);
      widest = std::max(widest, hands_.street(s).slots);
    }
    if (widest > width_) tiles_ = std::make_unique<Tiles>(width_ = widest);
    for (player_ = 0; player_ < 2; ++player_) {
      const Street& first = hands_.street(0);
      const size_t mark = rows_[0].used();
      float *reach = rows_[0].New(), *value = rows_[0].NewZero();
      for (int h = 0; h < first.slots; ++h) reach[h] = first.place[h] < kLive ? 1.0f / kLive : 0;
      list_[0].assign(1, {0, reach, value, nullptr, 0});
      Play(0);
      rows_[0].Release(mark);
    }
  }

  int64_t visited() const { return visited_; }

 private:
  // Plays the street below the nodes that `list_[s]` holds; their rows get the values.
  void Play(int s) {
    std::vector<Item>& list = list_[s];
    std::vector<int32_t>& next = next_[s];
    const size_t mark = rows_[s].used(), shares = shares_used_;
    next.clear();
    for (size_t i = 0; i < list.size(); ++i) {
      const Node& node = game_.nodes[list[i].node];
      if (node.count == 0) {
        End(node, list[i]);
      } else if (node.stage != s) {
        next.push_back(static_cast<int32_t>(i));
      } else {
        Expand(s, node, i);
      }
    }
    visited_ += list.size();
    folds_.Pay(kFold, hands_.street(s).leaf, 0, *tiles_);
    showdowns_.Pay(kShowdown, hands_.street(s).leaf, 0, *tiles_);
    folds_.Clear();
    showdowns_.Clear();
    const size_t together = s == 2 ? next.size() : 1;
    for (size_t i = 0; i < next.size(); i += together) {
      Below(s, i, std::min(i + together, next.size()));
    }
    for (size_t i = list.size(); i-- > 0;) {
      const Node& node = game_.nodes[list[i].node];
      if (node.count && node.stage == s && node.actor == player_) Combine(s, node, list[i]);
    }
    rows_[s].Release(mark);
    shares_used_ = shares;
  }

  void End(const Node& node, const Item& item) {
    const int32_t* spent = game_.spent + 2 * node.end;
    const uint8_t* folded = game_.folded + 2 * node.end;
    constexpr float kPairs = static_cast<float>(kLive) / 990;  // hands that share no card, by chance
    if (folded[0] || folded[1]) {
      const int32_t lost = folded[player_] ? -spent[player_] : spent[1 - player_];
      folds_.Add(lost * kPairs / kLive, item.reach, item.value);
    } else {
      const int32_t stake = std::min(spent[0], spent[1]);
      showdowns_.Add(stake * kPairs / kLive, item.reach, item.value);
    }
  }

  // Plays the next street below some nodes of a street.
  void Below(int s, size_t from, size_t to) {
    const Street& next = hands_.street(s + 1);
    const size_t mark = rows_[s + 1].used();
    std::vector<Item>& list = list_[s + 1];
    list.clear();
    const float *known = nullptr, *turned = nullptr;
    for (size_t i = from; i < to; ++i) {
      const Item& item = list_[s][next_[s][i]];
      if (item.reach != known) {
        known = item.reach;
        float* row = rows_[s + 1].New();
        for (int h = 0; h < next.slots; ++h) row[h] = known[next.before[h]];
        turned = row;
      }
      list.push_back({item.node, turned, rows_[s + 1].NewZero(), nullptr, 0});
    }
    Play(s + 1);
    const Street& here = hands_.street(s);
    for (size_t i = from; i < to; ++i) {
      float* value = list_[s][next_[s][i]].value;
      const float* row = list[i - from].value;
      for (int h = 0; h < here.slots; ++h) value[h] += row[here.after[h]];
    }
    rows_[s + 1].Release(mark);
  }

  void Expand(int s, const Node& node, size_t i) {
    const Street& here = hands_.street(s);
    const int count = node.count, present = here.present();
    const Item item = list_[s][i];
    float* share = NewShares(static_cast<size_t>(present) * count);
    for (int k = 0; k < present; ++k) {
      Match<Full>(regret_ + At(node, here.bucket[k]), count, share + k * count);
    }
    list_[s][i].share = share;
    list_[s][i].below = static_cast<int32_t>(list_[s].size());
    if (node.actor == player_) {
      for (int a = 0; a < count; ++a) {
        list_[s].push_back({node.child + a, item.reach, rows_[s].NewZero(), nullptr, 0});
      }
      return;
    }
    const Chunk* reach = reinterpret_cast<const Chunk*>(item.reach);
    double total[kMostActions] = {};
    for (int k = 0; k < present; ++k) {
      const float sum = Sum(reach, here.begin[k], here.begin[k + 1]);
      float* to = average_ + At(node, here.bucket[k]);
      for (int a = 0; a < count; ++a) {
        const float played = sum * share[k * count + a];
        total[a] += played;
        to[a] += weight_ * played;
      }
    }
    for (int a = 0; a < count; ++a) {
      const int32_t child = node.child + a;
      if (total[a] == 0) continue;
      // Roulette: rare actions are played now and then, with more weight, so that means stay.
      const float kept = options_.roulette > 0
                             ? std::min(1.0f, static_cast<float>(total[a] / options_.roulette))
                             : 1.0f;
      if (kept < 1 && Uniform(key_, 2 * static_cast<uint64_t>(child) + player_) >= kept) continue;
      float* row = rows_[s].New();
      Chunk* out = reinterpret_cast<Chunk*>(row);
      const float scale = 1 / kept;
      for (int k = 0; k < present; ++k) {
        const float times = scale * share[k * count + a];
        for (int c = here.begin[k]; c < here.begin[k + 1]; ++c) out[c] = reach[c] * times;
      }
      std::fill(row + kChunk * here.begin[present], row + here.slots, 0.0f);
      list_[s].push_back({child, row, item.value, nullptr, 0});
    }
  }

  // Adds what the actions of the player win to the row of the node, and to the regrets.
  void Combine(int s, const Node& node, const Item& item) {
    const Street& here = hands_.street(s);
    const int count = node.count, present = here.present();
    const Chunk* child[kMostActions];
    for (int a = 0; a < count; ++a) {
      child[a] = reinterpret_cast<const Chunk*>(list_[s][item.below + a].value);
    }
    Chunk* value = reinterpret_cast<Chunk*>(item.value);
    for (int k = 0; k < present; ++k) {
      const float* share = item.share + k * count;
      float won[kMostActions], mean = 0;
      for (int a = 0; a < count; ++a) {
        Chunk sum = {};
        for (int c = here.begin[k]; c < here.begin[k + 1]; ++c) {
          sum += child[a][c];
          value[c] += share[a] * child[a][c];
        }
        won[a] = Sum(&sum, 0, 1);
        mean += share[a] * won[a];
      }
      float* to = regret_ + At(node, here.bucket[k]);
      for (int a = 0; a < count; ++a) to[a] += weight_ * (won[a] - mean);
    }
  }

  static float Sum(const Chunk* row, int begin, int end) {
    Chunk sum = {};
    for (int c = begin; c < end; ++c) sum += row[c];
    float out = 0;
    for (int l = 0; l < kChunk; ++l) out += sum[l];
    return out;
  }

  static int64_t At(const Node& node, int32_t bucket) {
    return node.row + static_cast<int64_t>(bucket) * node.count;
  }

  float* NewShares(size_t count) {
    constexpr size_t kBlock = 1 << 16;
    if (shares_used_ % kBlock + count > kBlock) shares_used_ = (shares_used_ / kBlock + 1) * kBlock;
    while (shares_.size() * kBlock < shares_used_ + count) shares_.emplace_back(kBlock);
    float* out = shares_[shares_used_ / kBlock].data() + shares_used_ % kBlock;
    shares_used_ += count;
    return out;
  }

  const Game& game_;
  const VectorOptions& options_;
  const Buckets& buckets_;
  float *regret_, *average_;
  BoardHands hands_;
  Rows rows_[kStreets];
  std::vector<Item> list_[kStreets];
  std::vector<int32_t> next_[kStreets];
  std::vector<std::vector<float>> shares_;
  size_t shares_used_ = 0;
  LeafList folds_, showdowns_;
  std::unique_ptr<Tiles> tiles_;
  int32_t width_ = 0;
  int64_t visited_ = 0;
  uint64_t key_ = 0;
  float weight_ = 1;
  int player_ = 0;
};

}  // namespace

extern "C" {

// Does passes on boards uint8 [count, 5]; returns the nodes visited.
int64_t JaxsolveVectors(const Game* game, const VectorOptions* options, const Buckets* buckets,
                        const uint8_t* boards, float* regret, float* average) {
  Sweep sweep(*game, *options, *buckets, regret, average);
  for (int64_t k = 0; k < options->count; ++k) sweep.Run(options->first + k, boards + 5 * k);
  return sweep.visited();
}

}  // extern "C"

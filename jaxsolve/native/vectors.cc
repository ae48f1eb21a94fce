// Vectors of hands on sampled boards; `jaxsolve/mccfr/_vector.py` is the same in JAX for whole games.
//
// A pass updates both players on one complete board, one after the other. The reach of all hands of
// the other player goes down the public actions, and the values of all hands of the player come back
// up. Work goes street by street: the actions of a street below one node of the street before, breadth
// first, so that the rows in use stay in a cache; its ends W at a time; then the next street below each
// of its last nodes. The rivers below one turn are done together, since each is small.
//
// A node of the other player needs no values of its own: its children add theirs to the row of the
// action above that is the player's. A node of the player needs no reach of its own.
//
// Below the choice of a continuation there are several rows for one: the other player's reach with
// each of its continuations, and the player's values with each of its own, after a row that counts
// for all of these.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "action_tree.h"
#include "board_hands.h"
#include "continuations.h"
#include "leaf_lists.h"
#include "random.h"

namespace {

struct VectorOptions {
  uint64_t seed;
  int64_t first, count;       // passes first to first + count - 1
  double unit, power, until;  // weight of pass k: (1 + min(k, until) / unit) ^ power
  double roulette;            // see `Expand`; 0 keeps every action
};

// Where a search begins; null for whole games, in which all hands are alike likely.
struct Root {
  const float* range;      // [2, hands]
  const uint16_t* bucket;  // [hands], on the street that is solved
  int32_t street;          // this one, or -1
  int32_t padding;
  Continuations beyond;
};

struct Item {
  int32_t node;
  const float* reach;  // of the other player, `reaches` rows
  float* value;        // gets what the player wins here: a row, and `values` more
  float* share;        // [present, variants, actions], of a decision of the player
  int32_t below;       // place of the first child in the list
  uint8_t reaches, values;
};

class Sweep {
 public:
  Sweep(const Game& game, const VectorOptions& options, const Buckets& buckets, const Root* root,
        float* regret, float* average)
      : game_(game), options_(options), buckets_(buckets), root_(root), regret_(regret),
        average_(average), first_(game.nodes[0].stage),
        most_(root ? root->beyond.count + 1 : 1) {}

  // Does a pass; adds what the hands win at the first node to won [2, hands], if it is there.
  void Run(int64_t pass, const uint8_t* board, float* won) {
    key_ = PassKey(options_.seed, pass);
    const double step = 1 + std::min<double>(pass, options_.until) / options_.unit;
    weight_ = static_cast<float>(std::pow(step, options_.power));
    hands_.Deal(buckets_, board, first_, game_.stages, root_ ? root_->street : -1,
                root_ ? root_->bucket : nullptr);
    int32_t widest = 0;
    for (int s = first_; s < game_.stages; ++s) {
      stride_[s] = (hands_.street(s).slots + 15) / 16 * 16;
      rows_[s].Reset(stride_[s] * most_);
      widest = std::max(widest, hands_.street(s).slots);
    }
    if (widest > width_) tiles_ = std::make_unique<Tiles>(width_ = widest);
    for (player_ = 0; player_ < 2; ++player_) {
      const Street& here = hands_.street(first_);
      const size_t mark = rows_[first_].used();
      float *reach = rows_[first_].New(), *value = rows_[first_].NewZero(stride_[first_]);
      for (int h = 0; h < here.slots; ++h) reach[h] = Range(here.place[h]);
      list_[first_].assign(1, {0, reach, value, nullptr, 0, 1, 0});
      Play(first_);
      for (int h = 0; won && h < here.slots; ++h) {
        if (here.place[h] < kLive) won[player_ * kHands + hands_.hand(here.place[h])] += value[h];
      }
      rows_[first_].Release(mark);
    }
  }

  int64_t visited() const { return visited_; }

 private:
  // How likely the other player begins with the hand at a place in the order of strength.
  float Range(int32_t place) const {
    if (place >= kLive) return 0;
    return root_ ? root_->range[(1 - player_) * kHands + hands_.hand(place)] : 1.0f / kLive;
  }

  // Plays the street below the nodes that `list_[s]` holds; their rows get the values.
  void Play(int s) {
    std::vector<Item>& list = list_[s];
    std::vector<int32_t>& next = next_[s];
    const size_t mark = rows_[s].used(), shares = shares_used_;
    next.clear();
    whole_of_ = nullptr;
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
    const float unit = root_ ? kPairs : kPairs / kLive;
    if (folded[0] || folded[1]) {
      const int32_t lost = folded[player_] ? -spent[player_] : spent[1 - player_];
      folds_.Add(lost * unit, Reach(item, node.stage), item.value);
    } else {
      const int32_t stake = std::min(spent[0], spent[1]);
      showdowns_.Add(stake * unit, Reach(item, node.stage), item.value);
    }
  }

  // The other player's reach with any continuation.
  const float* Reach(const Item& item, int s) {
    if (item.reaches == 1) return item.reach;
    if (item.reach == whole_of_) return whole_;
    float* row = rows_[s].New();
    const int slots = hands_.street(s).slots;
    std::copy(item.reach, item.reach + slots, row);
    for (int j = 1; j < item.reaches; ++j) {
      const float* more = item.reach + j * stride_[s];
      for (int h = 0; h < slots; ++h) row[h] += more[h];
    }
    whole_of_ = item.reach;
    return whole_ = row;
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
        for (int j = 0; j < item.reaches; ++j) {
          const float* of = known + j * stride_[s];
          float* out = row + j * stride_[s + 1];
          for (int h = 0; h < next.slots; ++h) out[h] = of[next.before[h]];
        }
        turned = row;
      }
      float* value = rows_[s + 1].NewZero((1 + item.values) * stride_[s + 1]);
      list.push_back({item.node, turned, value, nullptr, 0, item.reaches, item.values});
    }
    Play(s + 1);
    const Street& here = hands_.street(s);
    for (size_t i = from; i < to; ++i) {
      const Item& item = list_[s][next_[s][i]];
      for (int j = 0; j <= item.values; ++j) {
        float* value = item.value + j * stride_[s];
        const float* row = list[i - from].value + j * stride_[s + 1];
        for (int h = 0; h < here.slots; ++h) value[h] += row[here.after[h]];
      }
    }
    rows_[s + 1].Release(mark);
  }

  void Expand(int s, const Node& node, size_t i) {
    const Street& here = hands_.street(s);
    const int count = node.count, present = here.present();
    const bool own = node.actor == player_, fixed = node.role == kFixed;
    const Item item = list_[s][i];
    const int variants = !fixed ? 1 : own ? std::max<int>(1, item.values) : item.reaches;
    float* share = NewShares(static_cast<size_t>(present) * variants * count);
    for (int k = 0; k < present; ++k) {
      float* to = share + k * variants * count;
      if (fixed) {
        Follow(game_, root_->beyond, node, here.bucket[k], variants, to);
      } else {
        Match<Full>(regret_ + At(node, here.bucket[k]), count, to);
      }
    }
    list_[s][i].share = share;
    list_[s][i].below = static_cast<int32_t>(list_[s].size());
    if (!own) return Others(s, node, item, share, variants);
    const int children = node.role == kChoice ? 1 : count;
    const int values = node.role == kChoice ? count : item.values;
    for (int a = 0; a < children; ++a) {
      const int more = game_.nodes[node.child + a].count ? values : 0;
      float* value = rows_[s].NewZero((1 + more) * stride_[s]);
      list_[s].push_back({node.child + a, item.reach, value, nullptr, 0, item.reaches,
                          static_cast<uint8_t>(more)});
    }
  }

  // The children of a decision of the other player.
  void Others(int s, const Node& node, const Item& item, const float* share, int variants) {
    const Street& here = hands_.street(s);
    const int count = node.count, present = here.present();
    double total[kMostActions] = {};
    for (int k = 0; k < present; ++k) {
      float* to = average_ + At(node, here.bucket[k]);
      for (int j = 0; j < variants; ++j) {
        const Chunk* reach = reinterpret_cast<const Chunk*>(item.reach + j * stride_[s]);
        const float sum = Sum(reach, here.begin[k], here.begin[k + 1]);
        for (int a = 0; a < count; ++a) {
          const float played = sum * share[(k * variants + j) * count + a];
          total[a] += played;
          if (node.role != kFixed) to[a] += weight_ * played;
        }
      }
    }
    if (node.role == kChoice) {
      float* rows = rows_[s].New();
      for (int a = 0; a < count; ++a) {
        Scale(here, item.reach, share + a, count, 1, rows + a * stride_[s]);
      }
      list_[s].push_back({node.child, rows, item.value, nullptr, 0, static_cast<uint8_t>(count),
                          item.values});
      return;
    }
    for (int a = 0; a < count; ++a) {
      const int32_t child = node.child + a;
      if (total[a] == 0) continue;
      // Roulette: rare actions are played now and then, with more weight, so that means stay.
      const float kept = options_.roulette > 0
                             ? std::min(1.0f, static_cast<float>(total[a] / options_.roulette))
                             : 1.0f;
      if (kept < 1 && Uniform(key_, 2 * static_cast<uint64_t>(child) + player_) >= kept) continue;
      float* rows = rows_[s].New();
      for (int j = 0; j < variants; ++j) {
        Scale(here, item.reach + j * stride_[s], share + j * count + a, variants * count, 1 / kept,
              rows + j * stride_[s]);
      }
      list_[s].push_back({child, rows, item.value, nullptr, 0, item.reaches, item.values});
    }
  }

  // Multiplies a row by one number for each bucket, `step` apart, and by `scale`.
  static void Scale(const Street& here, const float* from, const float* share, int step, float scale,
                    float* to) {
    const Chunk* in = reinterpret_cast<const Chunk*>(from);
    Chunk* out = reinterpret_cast<Chunk*>(to);
    const int present = here.present();
    for (int k = 0; k < present; ++k) {
      const float times = scale * share[k * step];
      for (int c = here.begin[k]; c < here.begin[k + 1]; ++c) out[c] = in[c] * times;
    }
    std::fill(to + kChunk * here.begin[present], to + here.slots, 0.0f);
  }

  // Adds what the actions of the player win to the rows of the node, and to the regrets.
  void Combine(int s, const Node& node, const Item& item) {
    const Street& here = hands_.street(s);
    const bool chooses = node.role == kChoice;
    const int count = node.count, present = here.present();
    const int variants = node.role == kFixed ? std::max<int>(1, item.values) : 1;
    for (int a = 0; a < (chooses ? 1 : count); ++a) Spread(s, list_[s][item.below + a]);
    for (int j = 0; j < variants; ++j) {
      const Chunk* child[kMostActions];
      for (int a = 0; a < count; ++a) {
        const Item& below = list_[s][item.below + (chooses ? 0 : a)];
        child[a] = reinterpret_cast<const Chunk*>(Row(s, below, chooses ? a : j));
      }
      Chunk* value = reinterpret_cast<Chunk*>(Row(s, item, j));
      for (int k = 0; k < present; ++k) {
        const float* share = item.share + (k * variants + j) * count;
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
        if (node.role == kFixed) continue;
        float* to = regret_ + At(node, here.bucket[k]);
        for (int a = 0; a < count; ++a) to[a] += weight_ * (won[a] - mean);
      }
    }
  }

  // Adds the row that counts for all continuations to the row of each.
  void Spread(int s, const Item& item) {
    for (int j = 1; j <= item.values; ++j) {
      float* row = item.value + j * stride_[s];
      for (int h = 0; h < hands_.street(s).slots; ++h) row[h] += item.value[h];
    }
  }

  // The values of a player with a continuation.
  float* Row(int s, const Item& item, int j) const {
    return item.values ? item.value + (j + 1) * stride_[s] : item.value;
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
    constexpr size_t kBlock = 1 << 20;
    if (shares_used_ % kBlock + count > kBlock) shares_used_ = (shares_used_ / kBlock + 1) * kBlock;
    while (shares_.size() * kBlock < shares_used_ + count) shares_.emplace_back(kBlock);
    float* out = shares_[shares_used_ / kBlock].data() + shares_used_ % kBlock;
    shares_used_ += count;
    return out;
  }

  const Game& game_;
  const VectorOptions& options_;
  const Buckets& buckets_;
  const Root* root_;
  float *regret_, *average_;
  const int first_, most_;  // street; rows of one node
  BoardHands hands_;
  Rows rows_[kStreets];
  std::vector<Item> list_[kStreets];
  std::vector<int32_t> next_[kStreets];
  std::vector<std::vector<float>> shares_;
  size_t shares_used_ = 0;
  LeafList folds_, showdowns_;
  std::unique_ptr<Tiles> tiles_;
  int32_t width_ = 0, stride_[kStreets] = {};
  const float *whole_of_ = nullptr, *whole_ = nullptr;  // see `Reach`
  int64_t visited_ = 0;
  uint64_t key_ = 0;
  float weight_ = 1;
  int player_ = 0;
};

}  // namespace

extern "C" {

// Does passes on boards uint8 [count, 5]; returns the nodes visited. Adds what the hands win to won
// [2, hands], unless it is null.
int64_t JaxsolveVectors(const Game* game, const VectorOptions* options, const Buckets* buckets,
                        const Root* root, const uint8_t* boards, float* regret, float* average,
                        float* won) {
  Sweep sweep(*game, *options, *buckets, root, regret, average);
  for (int64_t k = 0; k < options->count; ++k) sweep.Run(options->first + k, boards + 5 * k, won);
  return sweep.visited();
}

}  // extern "C"

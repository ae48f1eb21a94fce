// External sampling on tables [sequence, bucket]; `jaxsolve/mccfr/_plain.py` is the same in Python.
//
// A pass walks down the public actions with one deal: every action of the traverser, one of each
// other player. The entries of an infoset (node, bucket) lie together: `row + bucket * count`.
// Several threads work on the same tables without locks, so that a sum may now and then be lost.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "action_tree.h"
#include "continuations.h"
#include "random.h"

namespace {

constexpr uint64_t kPruned = ~uint64_t{0};  // no node has this number

struct Options {
  uint64_t seed;
  int64_t first, count;               // passes first to first + count - 1
  double unit, power, until;          // weight of pass k: (1 + min(k, until) / unit) ^ power
  double prune, floor, share;         // regrets, in payoffs of weight 1; share of passes that prune
  int64_t warm_up;                    // passes before the first that prunes
  int32_t average_stages;             // stages whose average is summed in passes
  uint32_t seats;                     // a bit for each player who traverses
};

// What one seat wins or loses where the pots are divided by rank.
float Pots(const Game& game, int64_t end, const int32_t* rank, int seat) {
  const int n = game.players;
  const int32_t* spent = game.spent + end * n;
  const uint8_t* folded = game.folded + end * n;
  if (folded[seat]) return -static_cast<float>(spent[seat]);
  // Layer by layer: all that was paid between two stacks of seats that are still in.
  float won = 0;
  int32_t from = 0;
  while (true) {
    int32_t to = INT32_MAX;
    int running = 0;
    for (int i = 0; i < n; ++i) {
      if (!folded[i] && spent[i] > from) to = std::min(to, spent[i]), ++running;
    }
    if (running == 0 || spent[seat] <= from) break;
    // The last layer takes what others who folded have paid beyond it.
    bool last = true;
    for (int i = 0; i < n; ++i) last = last && (folded[i] || spent[i] <= to);
    int64_t pot = 0;
    int winners = 0;
    bool wins = true;
    for (int i = 0; i < n; ++i) {
      const int32_t cap = last ? INT32_MAX : to;
      pot += std::max(0, std::min(spent[i], cap) - std::min(spent[i], from));
      if (folded[i] || spent[i] < to) continue;
      if (rank[i] > rank[seat]) wins = false;
      winners += rank[i] == rank[seat];
    }
    if (wins) won += static_cast<float>(pot) / winners;
    from = to;
  }
  return won - spent[seat];
}

template <class Form>
class Pass {
 public:
  Pass(const Game& game, const Options& options, const Continuations* beyond,
       typename Form::Entry* regret, typename Form::Entry* average)
      : game_(game), options_(options), beyond_(beyond), regret_(regret), average_(average) {
    for (int i = 0; i < game.players; ++i) {
      if (options.seats >> i & 1) seat_[seats_++] = i;
    }
  }

  void Run(int64_t pass, const uint16_t* bucket, const int32_t* outcome) {
    traverser_ = seat_[pass % seats_];
    averaged_ = seat_[(pass + 1) % seats_];
    key_ = PassKey(options_.seed, pass);
    bucket_ = bucket;
    outcome_ = outcome;
    const double step = 1 + std::min<double>(pass, options_.until) / options_.unit;
    weight_ = static_cast<float>(std::pow(step, options_.power));
    prune_ = static_cast<float>(-options_.prune) * weight_;
    floor_ = static_cast<float>(-options_.floor) * weight_;
    prunes_ = pass >= options_.warm_up && Uniform(key_, kPruned) < options_.share;
    Walk(0);
  }

  int64_t visited() const { return visited_; }

 private:
  float Walk(int32_t number) {
    ++visited_;
    const Node& node = game_.nodes[number];
    if (node.count == 0) return Payoff(node.end);
    const int count = node.count;
    const int32_t bucket = bucket_[node.actor * game_.stages + node.stage];
    if (node.role == kFixed) return WalkFixed(number, bucket);
    const int64_t at = node.row + static_cast<int64_t>(bucket) * count;
    typename Form::Entry* regret = regret_ + at;
    float policy[kMostActions];
    Match<Form>(regret, count, policy);
    if (node.actor != traverser_) {
      if (node.actor == averaged_ && node.stage < options_.average_stages) {
        for (int a = 0; a < count; ++a) {
          typename Form::Entry* sum = average_ + at + a;
          Form::Set(sum, Form::Get(sum) + weight_ * policy[a], Random(number, a));
        }
      }
      return Step(node, Draw(number, policy, count));
    }
    float value[kMostActions], mean = 0;
    bool skipped[kMostActions];
    for (int a = 0; a < count; ++a) {
      skipped[a] = prunes_ && a < 8 && (node.prunable >> a & 1) && Form::Get(regret + a) < prune_;
      if (skipped[a]) continue;
      value[a] = Step(node, a);
      mean += policy[a] * value[a];
    }
    for (int a = 0; a < count; ++a) {
      if (skipped[a]) continue;
      const float sum = Form::Get(regret + a) + weight_ * (value[a] - mean);
      Form::Set(regret + a, std::max(sum, floor_), Random(number, a));
    }
    return mean;
  }

  // Beyond the depth limit one action of every player is drawn.
  float WalkFixed(int32_t number, int32_t bucket) {
    const Node& node = game_.nodes[number];
    Continuations one = *beyond_;
    one.factor += 3 * choice_[node.actor];
    float policy[kMostActions];
    Follow(game_, one, node, bucket, 1, policy);
    return Walk(node.child + Draw(number, policy, node.count));
  }

  // What an action leads to; the choice of a continuation leads to one child.
  float Step(const Node& node, int a) {
    if (node.role != kChoice) return Walk(node.child + a);
    choice_[node.actor] = a;
    const float won = Walk(node.child);
    choice_[node.actor] = 0;
    return won;
  }

  int Draw(int32_t number, const float* policy, int count) const {
    const float drawn = Uniform(key_, static_cast<uint64_t>(number));
    int a = 0;
    for (float below = policy[0]; a + 1 < count && drawn >= below; below += policy[a]) ++a;
    while (policy[a] == 0) --a;  // rounding
    return a;
  }

  float Payoff(int32_t end) const {
    if (game_.payoff == nullptr) return Pots(game_, end, outcome_, traverser_);
    return game_.payoff[(outcome_[0] * game_.ends + end) * game_.players + traverser_];
  }

  uint64_t Random(int32_t number, int action) const {
    return sizeof(typename Form::Entry) == 4
               ? 0
               : Mix(key_ ^ (static_cast<uint64_t>(number) << 8 | action | uint64_t{1} << 63));
  }

  const Game& game_;
  const Options& options_;
  const Continuations* beyond_;
  typename Form::Entry *regret_, *average_;
  const uint16_t* bucket_ = nullptr;
  const int32_t* outcome_ = nullptr;
  uint64_t key_ = 0;
  int64_t visited_ = 0;
  float weight_ = 1, prune_ = 0, floor_ = 0;
  int traverser_ = 0, averaged_ = 0;
  bool prunes_ = false;
  int choice_[kMostPlayers] = {};  // continuation of each player
  int seat_[kMostPlayers], seats_ = 0;  // those who traverse
};

template <class Form>
int64_t Passes(const Game& game, const Options& options, const Continuations* beyond,
               const uint16_t* bucket, const int32_t* outcome, void* regret, void* average) {
  Pass<Form> pass(game, options, beyond, static_cast<typename Form::Entry*>(regret),
                  static_cast<typename Form::Entry*>(average));
  const int64_t n = game.players;
  for (int64_t k = 0; k < options.count; ++k) {
    pass.Run(options.first + k, bucket + k * n * game.stages, outcome + k * n);
  }
  return pass.visited();
}

template <class Form>
void Snapshot(const Game& game, int64_t nodes, int32_t from, const int32_t* buckets, float weight,
              uint64_t key, void* regrets, void* averages) {
  const auto* regret = static_cast<const typename Form::Entry*>(regrets);
  auto* average = static_cast<typename Form::Entry*>(averages);
  float policy[kMostActions];
  for (int64_t i = 0; i < nodes; ++i) {
    const Node& node = game.nodes[i];
    if (node.count == 0 || node.stage < from) continue;
    for (int64_t b = 0; b < buckets[node.stage]; ++b) {
      const int64_t at = node.row + b * node.count;
      Match<Form>(regret + at, node.count, policy);
      for (int a = 0; a < node.count; ++a) {
        const float sum = Form::Get(average + at + a) + weight * policy[a];
        Form::Set(average + at + a, sum, Mix(key ^ static_cast<uint64_t>(at + a)));
      }
    }
  }
}

}  // namespace

extern "C" {

// Returns the nodes visited by some passes; `half` is 1 for tables of 16 bits.
int64_t JaxsolveExternal(const Game* game, const Options* options, const Continuations* beyond,
                         const uint16_t* bucket, const int32_t* outcome, void* regret,
                         void* average, int32_t half) {
  return (half ? Passes<Half> : Passes<Full>)(*game, *options, beyond, bucket, outcome, regret,
                                              average);
}

// Adds the current policy of the stages from `from` on to the average.
void JaxsolveSnapshot(const Game* game, int64_t nodes, int32_t from, const int32_t* buckets,
                      float weight, uint64_t key, void* regret, void* average, int32_t half) {
  (half ? Snapshot<Half> : Snapshot<Full>)(*game, nodes, from, buckets, weight, key, regret,
                                           average);
}

// Fills float32 [count, players]: what each seat wins at an end, pots divided by rank.
void JaxsolvePots(const Game* game, int64_t count, const int32_t* end, const int32_t* rank,
                  float* out) {
  for (int64_t k = 0; k < count; ++k) {
    for (int i = 0; i < game->players; ++i) {
      out[k * game->players + i] = Pots(*game, end[k], rank + k * game->players, i);
    }
  }
}

}  // extern "C"

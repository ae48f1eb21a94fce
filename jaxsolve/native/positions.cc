// PCFR+ on a tree of positions that grows, and the leaves where it should grow next.
//
// Nodes are in insertion order: parents before children, the children of a node side by side.
// Strategies belong to sequences, an action at an infoset; a new node finds those of its infoset by
// the fingerprint of what the player saw. `search/knowledge/_plain.py` has the same numbers.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "random.h"

namespace {

constexpr int kChance = -1;

// A player's infoset; its sequences are `begin` to `begin + width`.
struct Infoset {
  int64_t begin;
  int32_t width;
  int8_t player;
  int64_t first;     // the first of its nodes
  double mass = 0;   // reach of the others at the last iteration
  double visits = 0;
};

// An action at an infoset.
struct Sequence {
  double regret = 0, instant = 0, strategy = 0, average = 0, gain = 0;
  double worth = 0;                          // what the action is worth to who acts
  double visits = 2, mean = 0, squares = 2;  // of `worth`, as if it had been 1 and -1 before
};

// How the opponent comes to a class of roots; see `search/knowledge/_root.py`.
struct Class {
  double alternative, share;      // what staying out pays the opponent; how likely it is
  double gain = 0, reach = 0;
  double enter = .5, in = 0, out = 0, in_instant = 0, out_instant = 0;
  double pick = 0, pick_regret = 0, pick_instant = 0;
};

struct KeyHash {
  size_t operator()(const std::pair<uint64_t, int>& key) const { return Mix(key.first ^ key.second); }
};

double Positive(double x) { return std::max(x, 0.0); }

}  // namespace

// The memory layout of `_solver.Nodes`.
struct JaxsolveNodes {
  const int32_t* parent;
  const int32_t* actor;
  const double* odds;   // of the nodes that are new
  const double* value;  // of the nodes that are new
  const uint32_t* memory;  // [N, 2, 2]
};

struct JaxsolvePositions {
  int player;  // who re-solves; the other one comes to the classes
  bool resolve, maxmargin;
  double discount;  // regrets after iteration t count (t / (t + 1)) to this power
  std::vector<Class> classes;
  std::vector<int32_t> klass;   // [roots]
  std::vector<double> weight;   // [roots], sums to 1 in each class
  std::vector<int64_t> roots;
  std::vector<std::vector<int64_t>> members;  // numbers of the roots of each class

  std::vector<int32_t> parent, width, chooser, infoset, sequence;
  std::vector<int64_t> first;
  std::vector<double> odds, value, reach, own, flow;
  std::vector<Infoset> infosets;
  std::vector<Sequence> sequences;
  std::unordered_map<std::pair<uint64_t, int>, int64_t, KeyHash> known;
  int64_t iterations = 0;
  int64_t grown = 0;  // iterations before the tree last grew; averages are of those since

  int64_t size() const { return static_cast<int64_t>(parent.size()); }
  double Edge(int64_t i) const { return sequence[i] < 0 ? odds[i] : sequences[sequence[i]].strategy; }

  // Reads the nodes from the last known one to `count`.
  void Extend(const JaxsolveNodes& nodes, int64_t count) {
    const int64_t before = size();
    grown = iterations;
    for (Sequence& s : sequences) s.average = 0;
    for (auto* x : {&parent, &width, &chooser, &infoset, &sequence}) x->resize(count, 0);
    first.resize(count, -1);
    for (auto* x : {&odds, &value, &reach, &own, &flow}) x->resize(count, 0);
    for (int64_t i = before; i < count; ++i) {
      parent[i] = nodes.parent[i];
      odds[i] = nodes.odds[i - before];
      value[i] = nodes.value[i - before];
      chooser[i] = kChance;
      infoset[i] = sequence[i] = -1;
      if (parent[i] < 0) continue;
      const int64_t u = parent[i];
      if (first[u] < 0) first[u] = i;
      ++width[u];
      chooser[i] = nodes.actor[u];
    }
    for (int64_t i = before; i < count; ++i)
      if (parent[i] >= 0 && first[parent[i]] == i && chooser[i] >= 0) Open(nodes, parent[i]);
  }

  // Finds the infoset of a node whose children are new.
  void Open(const JaxsolveNodes& nodes, int64_t u) {
    const int player = nodes.actor[u];
    const uint32_t* words = nodes.memory + 4 * u + 2 * player;
    const uint64_t name = static_cast<uint64_t>(words[0]) << 32 | words[1];
    auto [at, is_new] = known.try_emplace({name, player}, infosets.size());
    if (is_new) {
      infosets.push_back({static_cast<int64_t>(sequences.size()), width[u],
                          static_cast<int8_t>(player), u});
      Start(u, player);
    }
    infoset[u] = static_cast<int32_t>(at->second);
    const Infoset& set = infosets[at->second];
    for (int32_t k = 0; k < width[u] && k < set.width; ++k)
      sequence[first[u] + k] = static_cast<int32_t>(set.begin + k);
  }

  // A new infoset plays what looks best at its first node.
  void Start(int64_t u, int player) {
    const double sign = 1 - 2 * player;
    int32_t best = 0;
    for (int32_t k = 0; k < width[u]; ++k) {
      Sequence made;
      made.worth = sign * value[first[u] + k];
      if (made.worth > sign * value[first[u] + best]) best = k;
      sequences.push_back(made);
    }
    Sequence& chosen = sequences[sequences.size() - width[u] + best];
    chosen.strategy = 1;
    chosen.regret = 1e-9;
  }

  double Kept() const {
    return std::pow(iterations / (iterations + 1.0), discount);
  }

  double RootReach(const Class& c, double most) const {
    if (!resolve && !maxmargin) return c.share;
    if (!maxmargin) return c.share * c.enter;
    if (!resolve) return c.pick;
    return most * c.share * c.enter + (1 - most) * c.pick;
  }

  double MostEntering() const {
    double most = 0;
    for (const Class& c : classes) most = std::max(most, c.enter);
    return most;
  }

  void SetRoots() {
    const double most = MostEntering();
    for (Class& c : classes) c.reach = RootReach(c, most);
  }

  // One player's part of an iteration.
  void Update(int player) {
    const double sign = 1 - 2 * player;
    SetRoots();
    for (size_t k = 0; k < roots.size(); ++k) {
      const double arrives = player == this->player ? classes[klass[k]].reach : 1.0;
      reach[roots[k]] = arrives * weight[k];
      own[roots[k]] = player == this->player ? 1.0 : classes[klass[k]].reach;
    }
    const int64_t count = size();
    for (int64_t i = 0; i < count; ++i) {
      flow[i] = 0;
      const int32_t u = parent[i];
      if (u < 0) continue;
      const double edge = Edge(i);
      const bool mine = chooser[i] == player;
      reach[i] = mine ? reach[u] : reach[u] * edge;
      own[i] = mine ? own[u] * edge : own[u];
    }
    for (Infoset& set : infosets) if (set.player == player) set.mass = 0;
    for (Sequence& s : sequences) s.gain = 0;
    for (int64_t i = count - 1; i >= 0; --i) {
      if (first[i] < 0) flow[i] = sign * reach[i] * value[i];
      else if (infoset[i] >= 0 && infosets[infoset[i]].player == player)
        infosets[infoset[i]].mass += reach[i];
      const int32_t u = parent[i];
      if (u < 0 || reach[i] == 0) continue;
      if (chooser[i] == player && sequence[i] >= 0) {
        Sequence& s = sequences[sequence[i]];
        s.gain += flow[i];
        flow[u] += s.strategy * flow[i];
      } else {
        flow[u] += flow[i];
      }
    }
    const double t = static_cast<double>(iterations - grown + 1);
    const double kept = Kept();
    for (Infoset& set : infosets) {
      if (set.player != player) continue;
      Sequence* s = &sequences[set.begin];
      double mean = 0, total = 0;
      for (int32_t k = 0; k < set.width; ++k) mean += s[k].strategy * s[k].gain;
      for (int32_t k = 0; k < set.width; ++k) {
        if (set.mass > 0) s[k].worth = s[k].gain / set.mass;
        s[k].average += t * t * own[set.first] * s[k].strategy;
        s[k].instant = s[k].gain - mean;
        s[k].regret = Positive(kept * s[k].regret + s[k].instant);
        total += Positive(s[k].regret + s[k].instant);
      }
      for (int32_t k = 0; k < set.width; ++k)
        s[k].strategy = total > 0 ? Positive(s[k].regret + s[k].instant) / total : 1.0 / set.width;
    }
    if (player != this->player) UpdateClasses();
  }

  // The opponent's choices at the root.
  void UpdateClasses() {
    for (Class& c : classes) c.gain = -c.alternative;
    for (size_t k = 0; k < roots.size(); ++k) classes[klass[k]].gain += flow[roots[k]];
    double mean = 0, total = 0;
    const double kept = Kept();
    for (Class& c : classes) mean += c.pick * c.gain;
    for (Class& c : classes) {
      c.in_instant = (1 - c.enter) * c.gain;
      c.out_instant = -c.enter * c.gain;
      c.in = Positive(kept * c.in + c.in_instant);
      c.out = Positive(kept * c.out + c.out_instant);
      const double in = Positive(c.in + c.in_instant), out = Positive(c.out + c.out_instant);
      c.enter = in + out > 0 ? in / (in + out) : .5;
      c.pick_instant = c.gain - mean;
      c.pick_regret = Positive(kept * c.pick_regret + c.pick_instant);
      total += Positive(c.pick_regret + c.pick_instant);
    }
    for (Class& c : classes)
      c.pick = total > 0 ? Positive(c.pick_regret + c.pick_instant) / total : 1.0 / classes.size();
  }

  // What an explorer does at an infoset: an action of the strategy, or the most promising one.
  int32_t Explore(Infoset& set, float drawn) {
    Sequence* s = &sequences[set.begin];
    set.visits += 1;
    int32_t chosen = 0;
    if (drawn < .5f) {
      int32_t support = 0;
      for (int32_t k = 0; k < set.width; ++k) support += s[k].strategy > 0;
      int32_t rank = std::min(static_cast<int32_t>(2 * drawn * support), support - 1);
      while (s[chosen].strategy <= 0 || rank-- > 0) ++chosen;
    } else {
      double best = -std::numeric_limits<double>::infinity();
      for (int32_t k = 0; k < set.width; ++k) {
        const double taken = s[k].visits - 2;
        const double score = s[k].worth + std::sqrt(s[k].squares / s[k].visits) *
                                              std::sqrt(set.visits) / (1 + taken);
        if (score > best) best = score, chosen = k;
      }
    }
    Sequence& taken = s[chosen];
    taken.visits += 1;
    const double off = taken.worth - taken.mean;
    taken.mean += off / taken.visits;
    taken.squares += off * (taken.worth - taken.mean);
    return chosen;
  }

  // Draws different leaves to be opened; `actor` tells which are decisions or chance.
  int64_t Leaves(int explorer, const int32_t* actor, int64_t most, uint64_t seed, int32_t* out) {
    SetRoots();
    double total = 0;
    for (const Class& c : classes) total += c.reach;
    int64_t found = 0;
    std::vector<char> taken(size(), 0);
    for (int64_t attempt = 0; found < most && attempt < 4 * most; ++attempt) {
      const uint64_t key = PassKey(seed, attempt);
      uint64_t step = 0;
      const bool as_played = total > 0 && Uniform(key, step++) < .5f;
      double drawn = Uniform(key, step++) * (as_played ? total : 1.0);
      size_t at = 0;
      for (; at + 1 < classes.size(); ++at) {
        drawn -= as_played ? classes[at].reach : classes[at].share;
        if (drawn < 0) break;
      }
      const std::vector<int64_t>& from = members[at];
      drawn = Uniform(key, step++);
      size_t root = 0;
      for (; root + 1 < from.size(); ++root) {
        drawn -= weight[from[root]];
        if (drawn < 0) break;
      }
      int64_t i = roots[from[root]];
      while (first[i] >= 0) {
        const float u = Uniform(key, step++);
        int32_t k = 0;
        if (infoset[i] >= 0 && infosets[infoset[i]].player == explorer) {
          k = Explore(infosets[infoset[i]], u);
        } else {
          double left = u;
          for (; k + 1 < width[i]; ++k) {
            left -= Edge(first[i] + k);
            if (left < 0) break;
          }
          while (k > 0 && Edge(first[i] + k) <= 0) --k;
        }
        i = first[i] + std::min(k, width[i] - 1);
      }
      if (actor[i] < kChance || taken[i]) continue;
      taken[i] = 1;
      out[found++] = static_cast<int32_t>(i);
    }
    return found;
  }

};

extern "C" {

JaxsolvePositions* JaxsolvePositionsNew(int32_t player, int32_t gadget, double discount, int64_t classes,
                                        const double* alternative, const double* share,
                                        int64_t roots, const int64_t* root, const int32_t* klass,
                                        const double* weight) {
  auto* p = new JaxsolvePositions();
  p->player = player;
  p->resolve = gadget & 1;
  p->maxmargin = gadget & 2;
  p->discount = discount;
  for (int64_t j = 0; j < classes; ++j) {
    p->classes.push_back({alternative[j], share[j]});
    p->classes.back().pick = 1.0 / classes;
  }
  p->roots.assign(root, root + roots);
  p->klass.assign(klass, klass + roots);
  p->weight.assign(weight, weight + roots);
  p->members.resize(classes);
  for (int64_t k = 0; k < roots; ++k) p->members[klass[k]].push_back(k);
  return p;
}

void JaxsolvePositionsFree(JaxsolvePositions* p) { delete p; }

void JaxsolvePositionsExtend(JaxsolvePositions* p, const JaxsolveNodes* nodes, int64_t count) {
  p->Extend(*nodes, count);
}

void JaxsolvePositionsIterate(JaxsolvePositions* p, int64_t iterations) {
  for (int64_t t = 0; t < iterations; ++t) {
    p->Update(0);
    p->Update(1);
    ++p->iterations;
  }
}

int64_t JaxsolvePositionsLeaves(JaxsolvePositions* p, int32_t explorer, const int32_t* actor,
                                int64_t most, uint64_t seed, int32_t* out) {
  return p->Leaves(explorer, actor, most, seed, out);
}

// Sets regrets and strategies of sequences by nodes, from an earlier tree; NaN leaves them.
void JaxsolvePositionsRestore(JaxsolvePositions* p, const double* regret, const double* strategy) {
  for (int64_t i = 0; i < p->size(); ++i) {
    if (p->sequence[i] < 0 || std::isnan(regret[i])) continue;
    p->sequences[p->sequence[i]].regret = regret[i];
    p->sequences[p->sequence[i]].strategy = strategy[i];
  }
}

// Writes what nodes [N] and classes [J] have: edges by current and average strategy (the current
// one where there is no average), regrets.
void JaxsolvePositionsRead(const JaxsolvePositions* p, double* current, double* average,
                           double* regret, int32_t* infoset, double* enter, double* pick,
                           double* gain) {
  for (int64_t i = 0; i < p->size(); ++i) {
    const int32_t s = p->sequence[i];
    current[i] = p->Edge(i);
    average[i] = current[i];
    regret[i] = s < 0 ? 0 : p->sequences[s].regret;
    infoset[i] = p->infoset[i];
    if (s < 0) continue;
    const Infoset& set = p->infosets[p->infoset[p->parent[i]]];
    double total = 0;
    for (int32_t k = 0; k < set.width; ++k) total += p->sequences[set.begin + k].average;
    if (total > 0) average[i] = p->sequences[s].average / total;
  }
  for (size_t j = 0; j < p->classes.size(); ++j) {
    enter[j] = p->classes[j].enter;
    pick[j] = p->classes[j].pick;
    gain[j] = p->classes[j].gain;
  }
}

int64_t JaxsolvePositionsInfosets(const JaxsolvePositions* p) {
  return static_cast<int64_t>(p->infosets.size());
}
}

// One iteration of CFR on a tree that grows: reaches from the root down, values from the leaves up.
//
// The arrays are those of `jaxsolve/search/growing/_state.py`, changed in place. Illegal pairs
// (action, private state) are 0 everywhere and passed over: in London some hundred of 5,373 are
// legal.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace growing {

constexpr int LANES = 8;

// What both passes read of one search.
template <class Code>
struct Tree {
  int64_t opened, actions, hands, children, most, ways, apart;
  int64_t own[2];          // private states of each player
  const int32_t *row, *up, *step, *actor, *kind;
  const bool* legal;       // [rows, actions, hands]
  const bool* renumbers;   // [rows], or null
  const Code* parents_of;  // [kinds, children, 2, hands, most]
  const Code* of_action;   // [kinds, actions, hands, ways]
  const Code* of_waiting;  // [kinds, hands, apart]

  // Who acts; somebody, too, where the game is over, as it may be in some searches of a batch.
  int64_t acts(int64_t n) const { return actor[row[n]] == 1; }

  int64_t reaches() const { return (actions + 1) * hands; }
  int64_t worths() const { return (children + 1) * hands; }

  // The legal pairs of an opened public state, as action * hands + private state.
  void Pairs(int64_t n, std::vector<int32_t>& pairs) const {
    pairs.clear();
    const int64_t mine = own[acts(n)];
    const bool* from = legal + row[n] * actions * hands;
    for (int64_t a = 0; a < actions; ++a) {
      const bool* line = from + a * hands;
      for (int64_t h = 0; h < mine;) {
        uint64_t word = 1;
        if (h + 8 <= mine) std::memcpy(&word, line + h, 8);
        if (word == 0) {
          h += 8;
          continue;
        }
        const int64_t end = std::min(h + 8, mine);
        for (; h < end; ++h)
          if (line[h]) pairs.push_back(static_cast<int32_t>(a * hands + h));
      }
    }
  }
};

// Own reaches [2, size] at a child of an opened public state: of the private states numbers [2,
// size], or of the first so many.
template <class Code>
void Reach(const Tree<Code>& t, const float* action_reach, int64_t up, int64_t child,
           const int32_t* numbers, int64_t size, float* reach) {
  const int64_t row = t.row[up];
  const int64_t many = t.own[1] > t.own[0];
  const bool stays = t.renumbers && !t.renumbers[row];
  for (int64_t p = 0; p < 2; ++p, reach += size, numbers += numbers ? size : 0) {
    const float* from = action_reach + (2 * up + p) * t.reaches();
    const int64_t list = (t.kind[row] * t.children + child) * 2 + p;
    const Code* codes = t.parents_of + list * t.hands * t.most;
    const int64_t count = stays ? 1 : t.most, some = std::min(size, t.own[p]);
    for (int64_t i = 0; i < some; ++i) {
      const int64_t h = numbers ? numbers[i] : i;
      const Code* code = codes + h * t.most;
      float sum = 0;
      if (stays && p == many) sum = from[h];
      else
        for (int64_t m = 0; m < count; ++m) sum += from[code[m]];
      reach[i] = sum;
    }
    std::fill(reach + some, reach + size, 0.f);
  }
}

template <class Code>
void Down(const Tree<Code>& t, const float* start, const float* policy, float* action_reach) {
  std::vector<float> reach(2 * t.hands);
  std::vector<int32_t> pairs;
  std::copy_n(start, 2 * t.hands, reach.data());
  for (int64_t n = 0; n < t.opened; ++n) {
    if (n) Reach(t, action_reach, t.up[n], t.step[n], nullptr, t.hands, reach.data());
    const int64_t actor = t.acts(n), waits = 1 - actor;
    float* out = action_reach + 2 * n * t.reaches();
    std::copy_n(reach.data() + waits * t.hands, t.hands, out + waits * t.reaches());
    t.Pairs(n, pairs);
    const float* play = policy + n * t.actions * t.hands;
    const float* mine = reach.data() + actor * t.hands;
    for (const int32_t pair : pairs)
      out[actor * t.reaches() + pair] = mine[pair % t.hands] * play[pair];
  }
}

// What the pass up changes, and its numbers.
struct Sums {
  const bool *mine, *allowed, *inside;
  const float *decay, *numbers, *factor, *payoff, *action_reach;
  float *regret, *policy, *total, *values, *value_sum, *child_values, *root;
};

inline double Dot(const float* x, const float* y, int64_t size) {
  double lane[LANES] = {};
  int64_t i = 0;
  for (; i + LANES <= size; i += LANES)
    for (int k = 0; k < LANES; ++k) lane[k] += double(x[i + k]) * y[i + k];
  double sum = 0;
  for (; i < size; ++i) sum += double(x[i]) * y[i];
  for (const double x : lane) sum += x;
  return sum;
}

// Adds payoffs [own 0, own 1] of a legal action to the values of both players.
template <class Code>
void Pay(const Tree<Code>& t, const float* pay, int64_t actor, const bool* legal, const float* acts,
         const float* waits, double* gain, double* theirs) {
  const int64_t first = t.own[0], second = t.own[1];
  if (actor == 0) {
    for (int64_t h = 0; h < first; ++h) {
      if (!legal[h]) continue;
      const float* line = pay + h * second;
      gain[h] += Dot(line, waits, second);
      for (int64_t g = 0; g < second; ++g) theirs[g] -= double(line[g]) * acts[h];
    }
  } else if (second == 1) {
    gain[0] -= Dot(pay, waits, first);
    for (int64_t h = 0; h < first; ++h) theirs[h] += double(pay[h]) * acts[0];
  } else {
    for (int64_t h = 0; h < first; ++h) {
      const float* line = pay + h * second;
      theirs[h] += Dot(line, acts, second);
      for (int64_t g = 0; g < second; ++g)
        if (legal[g]) gain[g] -= double(line[g]) * waits[h];
    }
  }
}

template <class Code>
void Up(const Tree<Code>& t, const Sums& s) {
  const int64_t H = t.hands, A = t.actions, C = t.children;
  const float decay = *s.decay;
  const float positive = s.numbers[0], negative = s.numbers[1], least = s.numbers[2];
  const float play_positive = s.numbers[3], play_negative = s.numbers[4], ahead = s.numbers[5];
  // In double, so that actions that are worth the same stay so: a tie that rounding breaks is
  // another policy.
  std::vector<double> gain(A * H), value(2 * H);
  std::vector<float> sum(H), count(H);
  std::vector<int32_t> pairs;
  for (int64_t n = t.opened - 1; n >= 0; --n) {
    const int64_t row = t.row[n], actor = t.acts(n), waits = 1 - actor, kind = t.kind[row];
    const float* below = s.child_values + 2 * n * t.worths();
    for (int64_t p = 0; p < 2; ++p) {
      if (!s.mine[p]) continue;
      for (int64_t c = 0; c < C; ++c) {
        if (!s.inside[n * C + c]) continue;
        const float* now = below + p * t.worths() + c * H;
        float* before = s.value_sum + (2 * n + p) * t.worths() + c * H;
        for (int64_t h = 0; h < t.own[p]; ++h) before[h] = before[h] * decay + now[h];
      }
    }
    t.Pairs(n, pairs);
    std::fill(value.begin(), value.end(), 0);
    double *acted = value.data() + actor * H, *theirs = value.data() + waits * H;
    // Values of what the actions lead to, then of what they end.
    const float* own = below + actor * t.worths();
    const Code* of_action = t.of_action + kind * A * H * t.ways;
    for (const int32_t pair : pairs) {
      double found = 0;
      for (int64_t r = 0; r < t.ways; ++r) found += own[of_action[pair * t.ways + r]];
      gain[pair] = found;
    }
    const float* other = below + waits * t.worths();
    if (t.renumbers && t.own[actor] < t.own[waits]) {
      for (int64_t c = 0; c < C; ++c) {
        if (!s.inside[n * C + c]) continue;
        for (int64_t h = 0; h < t.own[waits]; ++h) theirs[h] += other[c * H + h];
      }
    } else {
      const Code* code = t.of_waiting + kind * H * t.apart;
      for (int64_t h = 0; h < t.own[waits]; ++h, code += t.apart)
        for (int64_t k = 0; k < t.apart; ++k) theirs[h] += other[code[k]];
    }
    const float* acts = s.action_reach + (2 * n + actor) * t.reaches();
    const float* stays = s.action_reach + (2 * n + waits) * t.reaches();
    const int64_t block = t.own[0] * t.own[1];
    for (size_t i = 0; i < pairs.size();) {
      const int64_t a = pairs[i] / H;
      Pay(t, s.payoff + (row * A + a) * block, actor, t.legal + (row * A + a) * H, acts + a * H,
          stays, gain.data() + a * H, theirs);
      while (i < pairs.size() && pairs[i] / H == a) ++i;
    }
    float* policy = s.policy + n * A * H;
    for (const int32_t pair : pairs) acted[pair % H] += policy[pair] * gain[pair];
    if (s.mine[actor]) {
      float *regret = s.regret + n * A * H, *total = s.total + n * A * H;
      float* values = s.values + n * A * H;
      const bool* allowed = s.allowed + n * A * H;
      std::fill(sum.begin(), sum.end(), 0.f);
      std::fill(count.begin(), count.end(), 0.f);
      for (const int32_t pair : pairs) {
        const int64_t h = pair % H;
        const float worth = gain[pair], mean = acted[h];
        const float now = allowed[pair] ? worth - mean : 0.f;
        const float before = regret[pair];
        const float after = std::max(before * (before > 0 ? positive : negative) + now, least);
        const float scaled = after * (after > 0 ? play_positive : play_negative);
        const float play = allowed[pair] ? std::max(scaled + ahead * now, 0.f) : 0.f;
        regret[pair] = after;
        policy[pair] = play;
        total[pair] = total[pair] * decay + acts[pair];
        values[pair] = worth;
        sum[h] += play;
        count[h] += allowed[pair];
      }
      for (const int32_t pair : pairs) {
        const int64_t h = pair % H;
        const float even = allowed[pair] ? 1.f / std::max(count[h], 1.f) : 0.f;
        policy[pair] = sum[h] > 0 ? policy[pair] / sum[h] : even;
      }
    }
    if (n == 0) {
      std::copy_n(value.data(), 2 * H, s.root);
      continue;
    }
    const int64_t up = t.up[n], step = t.step[n];
    const float factor = s.factor[t.row[up] * C + step];
    for (int64_t p = 0; p < 2; ++p) {
      float* out = s.child_values + (2 * up + p) * t.worths() + step * H;
      for (int64_t h = 0; h < t.own[p]; ++h) out[h] = value[p * H + h] * factor;
    }
  }
}

}  // namespace growing

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

// Some private states: those of a list, or the first so many.
template <class Code>
struct Numbers {
  const Code* list;  // or null
  int64_t size;

  int64_t operator[](int64_t i) const { return list ? list[i] : i; }
};

// What both passes read of one search.
template <class Code>
struct Tree {
  int64_t opened, actions, hands, children, most, ways, apart;
  int64_t own[2];          // private states of each player
  const int32_t *row, *public_, *up, *step, *actor, *kind;
  const int32_t* child;    // [rows, children], public states
  const bool* legal;       // [rows, actions, hands]
  const bool* renumbers;   // [rows], or null
  const Code* order;       // [public states, hands], possible ones of who has more first; or null
  const int32_t* count;    // [public states], how many they are; or null
  const Code* parents_of;  // [kinds, children, 2, hands, most]
  const Code* of_action;   // [kinds, actions, hands, ways]
  const Code* of_waiting;  // [kinds, hands, apart]

  // Who has more private states.
  int64_t many() const { return own[1] > own[0]; }

  // Private states that may be possible in a public state.
  Numbers<Code> Possible(int64_t q, int64_t player) const {
    if (order && player == many()) return {order + q * hands, count[q]};
    return {nullptr, own[player]};
  }

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
  const int64_t row = t.row[up], public_ = t.child[row * t.children + child];
  const bool stays = t.renumbers && !t.renumbers[row];
  for (int64_t p = 0; p < 2; ++p, reach += size, numbers += numbers ? size : 0) {
    const float* from = action_reach + (2 * up + p) * t.reaches();
    const int64_t list = (t.kind[row] * t.children + child) * 2 + p;
    const Code* codes = t.parents_of + list * t.hands * t.most;
    const int64_t some = std::min(size, t.own[p]);
    const auto one = [&](int64_t h) {
      float sum = 0;
      for (int64_t m = 0; m < (stays ? 1 : t.most); ++m) sum += from[codes[h * t.most + m]];
      return sum;
    };
    std::fill(reach, reach + size, 0.f);
    if (stays && p == t.many()) {
      for (int64_t i = 0; i < some; ++i) reach[i] = from[numbers ? numbers[i] : i];
    } else if (numbers) {
      for (int64_t i = 0; i < some; ++i) reach[i] = one(numbers[i]);
    } else {
      const auto possible = t.Possible(std::max<int64_t>(public_, 0), p);
      for (int64_t i = 0; i < possible.size; ++i) reach[possible[i]] = one(possible[i]);
    }
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

// Adds payoffs [own 0, own 1] of an action to the values of both players.
//
// `pairs` are its legal ones; `others`, the possible private states of who waits.
template <class Code>
void Pay(const Tree<Code>& t, const float* pay, int64_t actor, const int32_t* pairs, int64_t count,
         const Numbers<Code>& others, const float* acts, const float* waits, double* gain,
         double* theirs) {
  const int64_t second = t.own[1];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t h = pairs[i] % t.hands;
    if (actor == 0) {
      const float* line = pay + h * second;
      gain[h] += Dot(line, waits, second);
      for (int64_t g = 0; g < second; ++g) theirs[g] -= double(line[g]) * acts[h];
      continue;
    }
    double sum = 0;
    for (int64_t k = 0; k < others.size; ++k) {
      const int64_t g = others[k];
      const double unit = pay[g * second + h];
      sum += unit * waits[g];
      theirs[g] += unit * acts[h];
    }
    gain[h] -= sum;
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
    const int32_t* children = t.child + row * C;
    const float* below = s.child_values + 2 * n * t.worths();
    for (int64_t p = 0; p < 2; ++p) {
      if (!s.mine[p]) continue;
      for (int64_t c = 0; c < C; ++c) {
        if (!s.inside[n * C + c]) continue;
        const float* now = below + p * t.worths() + c * H;
        float* before = s.value_sum + (2 * n + p) * t.worths() + c * H;
        const auto possible = t.Possible(children[c], p);
        for (int64_t i = 0; i < possible.size; ++i) {
          const int64_t h = possible[i];
          before[h] = before[h] * decay + now[h];
        }
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
        const auto possible = t.Possible(children[c], waits);
        for (int64_t i = 0; i < possible.size; ++i)
          theirs[possible[i]] += other[c * H + possible[i]];
      }
    } else {
      const Code* code = t.of_waiting + kind * H * t.apart;
      for (int64_t h = 0; h < t.own[waits]; ++h, code += t.apart)
        for (int64_t k = 0; k < t.apart; ++k) theirs[h] += other[code[k]];
    }
    const float* acts = s.action_reach + (2 * n + actor) * t.reaches();
    const float* stays = s.action_reach + (2 * n + waits) * t.reaches();
    const int64_t block = t.own[0] * t.own[1];
    const auto others = t.Possible(t.public_[n], waits);
    for (size_t i = 0, next; i < pairs.size(); i = next) {
      const int64_t a = pairs[i] / H;
      for (next = i; next < pairs.size() && pairs[next] / H == a;) ++next;
      Pay(t, s.payoff + (row * A + a) * block, actor, pairs.data() + i, next - i, others,
          acts + a * H, stays, gain.data() + a * H, theirs);
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
      const auto possible = t.Possible(t.public_[n], p);
      for (int64_t i = 0; i < possible.size; ++i)
        out[possible[i]] = value[p * H + possible[i]] * factor;
    }
  }
}

// Writes values [2, size] of a leaf, of the private states numbers [2, size] or of the first so
// many, to where its parent has them.
template <class Code>
void Put(const Tree<Code>& t, const float* found, const int32_t* numbers, int64_t size, int64_t up,
         int64_t child, float* values) {
  for (int64_t p = 0; p < 2; ++p, found += size, numbers += numbers ? size : 0) {
    float* out = values + (2 * up + p) * t.worths() + child * t.hands;
    for (int64_t i = 0; i < std::min(size, t.own[p]); ++i) out[numbers ? numbers[i] : i] = found[i];
  }
}

// Sorts leaves [first, last) by the count of their public states: those with at most sizes[0],
// those with at most sizes[1], and so on, then the others. `begin` [sizes + 2]: where each group
// begins in `sorted`.
template <class Code>
void Sort(const Tree<Code>& t, const int32_t* leaf, int64_t first, int64_t last,
          const int32_t* count, const int64_t* sizes, int64_t many, int32_t* sorted, int32_t* begin) {
  const auto group = [&](int32_t code) {
    const int64_t up = code / t.children, child = code % t.children;
    const int64_t q = t.child[t.row[up] * t.children + child];
    return std::lower_bound(sizes, sizes + many, count[q]) - sizes;
  };
  std::vector<int32_t> at(many + 2, 0);
  for (int64_t k = first; k < last; ++k) ++at[group(leaf[k]) + 1];
  for (int64_t g = 0; g <= many; ++g) at[g + 1] += at[g];
  std::copy_n(at.data(), many + 2, begin);
  for (int64_t k = first; k < last; ++k) sorted[at[group(leaf[k])]++] = leaf[k];
}

}  // namespace growing

// Arithmetic of rows [hands]: policies, averages, regrets, and their storage in 32 or 16 bits.

#ifndef JAXSOLVE_SPOT_ROWS_H_
#define JAXSOLVE_SPOT_ROWS_H_

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "lanes.h"

// Coefficients of one update, and the weight of this iteration in the average; see
// `jaxsolve.regret.Coefficients`.
struct SpotNumbers {
  float positive, negative, least, play_positive, play_negative, prediction, share;
};

constexpr int kMostActions = 64;

template <class V>
V SpotGet(const float* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class V>
void SpotSet(float* to, V v) {
  std::memcpy(to, &v, sizeof v);
}

// Calls f for whole SIMD vectors of hands and then for single ones.
template <class F>
void EachHand(int64_t n, F f) {
  int64_t h = 0;
  for (; h + W <= n; h += W) f(Lane{}, h);
  for (; h < n; ++h) f(0.0f, h);
}

// Rows [hands] of the actions of a decision, one after the other, in 32 or 16 bits.
struct Floats {
  const float* base;
  int64_t hands;
  template <class V>
  V At(int action, int64_t h) const {
    return SpotGet<V>(base + action * hands + h);
  }
  // Asks for the same place some rows further on, which are needed next.
  void Ahead(int rows, int64_t h) const { __builtin_prefetch(base + rows * hands + h); }
};

struct Shorts {
  typedef int16_t Pack __attribute__((vector_size(2 * W)));
  const int16_t* base;
  const float* step;
  int64_t hands;
  template <class V>
  V At(int action, int64_t h) const {
    const int16_t* from = base + action * hands + h;
    if constexpr (sizeof(V) > 4) {
      Pack some;
      std::memcpy(&some, from, sizeof some);
      return __builtin_convertvector(some, Lane) * step[action];
    } else {
      return *from * step[action];
    }
  }
  void Ahead(int rows, int64_t h) const { __builtin_prefetch(base + rows * hands + h); }
};

// Calls F<number of actions>, a constant for few and 0 for many.
#define JAXSOLVE_BY_WIDTH(width, F)  \
  switch (width) {                   \
    case 2: return F(2);             \
    case 3: return F(3);             \
    case 4: return F(4);             \
    default: return F(0);            \
  }

template <int A, bool given, class Rows, class F>
void EachPolicyOf(int width, const Rows& from, F f) {
  const int n = A ? A : width;
  EachHand(from.hands, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    V x[A ? A : kMostActions], total = zero;
    for (int a = 0; a < n; ++a) {
      const V y = from.template At<V>(a, h);
      from.Ahead(a + n, h);
      if constexpr (given) x[a] = y; else x[a] = y > zero ? y : zero;
      total += x[a];
    }
    if constexpr (!given) {
      const V one = zero + 1, scale = one / (total > zero ? total : one);
      const V even = total > zero ? zero : zero + 1.0f / n;
      for (int a = 0; a < n; ++a) x[a] = x[a] * scale + even;
    }
    f(n, h, x);
  });
}

// Calls f(actions, hand, policy): shares of the positive parts of rows, uniform where there are none.
// With `given` the rows are the policy.
template <bool given, class Rows, class F>
void EachPolicy(int width, const Rows& from, F f) {
#define JAXSOLVE_CALL(A) EachPolicyOf<A, given>(width, from, f)
  JAXSOLVE_BY_WIDTH(width, JAXSOLVE_CALL)
#undef JAXSOLVE_CALL
}

template <class Rows>
void Policies(int width, const Rows& from, float* out) {
  EachPolicy<false>(width, from, [&](int n, int64_t h, const auto* x) {
    for (int a = 0; a < n; ++a) SpotSet(out + a * from.hands + h, x[a]);
  });
}

// Reach of the actions, from that above.
template <class Rows>
void Reaches(int width, const Rows& from, const float* above, float* out) {
  EachPolicy<false>(width, from, [&](int n, int64_t h, const auto* x) {
    using V = std::decay_t<decltype(*x)>;
    const V reach = SpotGet<V>(above + h);
    for (int a = 0; a < n; ++a) SpotSet<V>(out + a * from.hands + h, x[a] * reach);
  });
}

// The same for a player whose policy and averages are kept; `mean` are rows like `out`.
template <bool given, class Rows>
void OwnReaches(int width, const Rows& from, const float* above, float share, float* policy,
                float* out, float* mean) {
  EachPolicy<given>(width, from, [&](int n, int64_t h, const auto* x) {
    using V = std::decay_t<decltype(*x)>;
    const V reach = SpotGet<V>(above + h), part = V{} + share;
    for (int a = 0; a < n; ++a) {
      const int64_t at = a * from.hands + h;
      const V mine = x[a] * reach, old = SpotGet<V>(mean + at);
      __builtin_prefetch(mean + at + n * from.hands, 1);
      SpotSet<V>(policy + at, x[a]);
      SpotSet<V>(out + at, mine);
      SpotSet<V>(mean + at, old + (mine - old) * part);
    }
  });
}

// Adds the values of a row of decisions under a policy to `now`, and the most of its actions to
// `best`; `worth` and `better` are rows of actions.
inline void Values(int width, int64_t hands, const float* policy, const float* worth,
                   const float* better, float* now, float* best) {
  EachHand(hands, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    V value = zero, most = SpotGet<V>(better + h);
    for (int a = 0; a < width; ++a) {
      const int64_t at = a * hands + h;
      value += SpotGet<V>(policy + at) * SpotGet<V>(worth + at);
      const V x = SpotGet<V>(better + at);
      most = x > most ? x : most;
    }
    SpotSet<V>(now + h, SpotGet<V>(now + h) + value);
    SpotSet<V>(best + h, SpotGet<V>(best + h) + most);
  });
}

template <int A, bool predicted, class Rows>
void UpdateRegretsOf(const SpotNumbers& x, int width, float* policy, const float* worth,
                     const Rows& from, float* to, float* above) {
  const int64_t hands = from.hands;
  const int n = A ? A : width;
  EachHand(hands, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    const V positive = zero + x.positive, negative = zero + x.negative, least = zero + x.least;
    V q[A ? A : kMostActions], value = zero, total = zero;
    for (int a = 0; a < n; ++a) {
      q[a] = SpotGet<V>(worth + a * hands + h);
      value += SpotGet<V>(policy + a * hands + h) * q[a];
    }
    for (int a = 0; a < n; ++a) {
      const V now = q[a] - value, old = from.template At<V>(a, h);
      V sum = old * (old > zero ? positive : negative) + now;
      sum = sum > least ? sum : least;
      SpotSet<V>(to + a * hands + h, sum);
      if constexpr (predicted) {
        V play = sum * (sum > zero ? zero + x.play_positive : zero + x.play_negative);
        play += (zero + x.prediction) * now;
        play = play > zero ? play : zero;
        SpotSet<V>(policy + a * hands + h, play);
        total += play;
      }
    }
    if constexpr (predicted) {
      const V one = zero + 1, scale = one / (total > zero ? total : one);
      const V even = total > zero ? zero : zero + 1.0f / n;
      for (int a = 0; a < n; ++a) {
        float* play = policy + a * hands + h;
        SpotSet<V>(play, SpotGet<V>(play) * scale + even);
      }
    }
    SpotSet<V>(above + h, SpotGet<V>(above + h) + value);
  });
}

// Writes new regrets to `to`, adds the value of the row to `above`, and writes the next policy over
// `policy` if regrets are predicted. All are rows of actions, one after the other.
template <bool predicted, class Rows>
void UpdateRegrets(const SpotNumbers& x, int width, float* policy, const float* worth,
                   const Rows& from, float* to, float* above) {
#define JAXSOLVE_CALL(A) UpdateRegretsOf<A, predicted>(x, width, policy, worth, from, to, above)
  JAXSOLVE_BY_WIDTH(width, JAXSOLVE_CALL)
#undef JAXSOLVE_CALL
}

// Numbers in [0, 1) that rows of 16 bits are rounded by: `kDither` of them, then the first ones again.
constexpr int64_t kDither = 4096, kMostHands = 1326;

inline const float* Dither() {
  static const std::vector<float> numbers = [] {
    std::vector<float> made(kDither + kMostHands);
    uint32_t x = 0x9e3779b9u;
    for (int64_t k = 0; k < kDither; ++k) {
      x ^= x << 13, x ^= x >> 17, x ^= x << 5;
      made[k] = static_cast<float>(x >> 8) * 0x1p-24f;
    }
    std::copy_n(made.begin(), kMostHands, made.begin() + kDither);
    return made;
  }();
  return numbers.data();
}

inline float Largest(int64_t n, const float* from) {
  Lane most = {};
  int64_t h = 0;
  for (; h + W <= n; h += W) {
    const Lane x = SpotGet<Lane>(from + h), y = x < 0.0f ? -x : x;
    most = y > most ? y : most;
  }
  float out = 0;
  for (int l = 0; l < W; ++l) out = std::max(out, most[l]);
  for (; h < n; ++h) out = std::max(out, std::fabs(from[h]));
  return out;
}

// Writes a row in steps of its largest number by `levels`, rounded up or down by chance so that the
// mean is right, and returns the step. `Number` holds 16 bits, `seed` chooses the chances.
template <class Number>
float Pack(int64_t n, const float* from, uint32_t seed, float levels, Number* to) {
  const float most = Largest(n, from), step = most / levels, by = step > 0 ? 1 / step : 0;
  const float* dither = Dither() + seed % kDither;
  for (int64_t h = 0; h < n; ++h) {
    to[h] = static_cast<Number>(static_cast<int32_t>(std::floor(from[h] * by + dither[h])));
  }
  return step;
}

// Rows [hands] of a state, in 32 bits, or in 16 with or without a sign.
struct SpotArray {
  void* data;
  float* scale;  // of each row of 16 bits
  int64_t hands, bits;
  bool sign;
  static constexpr int64_t kLine = 32;  // numbers of a cache line

  // Rows as floats: where they are, or in `room`.
  float* Read(int64_t row, int count, float* room) const {
    if (bits == 32) return static_cast<float*>(data) + row * hands;
    for (int a = 0; a < count; ++a) {
      const uint16_t* from = static_cast<const uint16_t*>(data) + (row + a) * hands;
      const float step = scale[row + a];
      for (int64_t begin = 0; begin < hands; begin += kLine) {
        __builtin_prefetch(from + begin + count * hands, 1);  // the rows that come next
        const int64_t end = std::min(hands, begin + kLine);
        float* to = room + a * hands;
        if (sign) {
          for (int64_t h = begin; h < end; ++h) to[h] = static_cast<int16_t>(from[h]) * step;
        } else {
          for (int64_t h = begin; h < end; ++h) to[h] = from[h] * step;
        }
      }
    }
    return room;
  }

  // Keeps rows of 16 bits.
  void Write(int64_t row, int count, const float* from, uint32_t seed) const {
    for (int a = 0; a < count; ++a, from += hands, seed += 0x9e3779b9u) {
      void* to = static_cast<int16_t*>(data) + (row + a) * hands;
      scale[row + a] = sign ? Pack(hands, from, seed, 32766, static_cast<int16_t*>(to))
                            : Pack(hands, from, seed, 65534, static_cast<uint16_t*>(to));
    }
  }

  Floats AsFloats(int64_t row) const { return {static_cast<float*>(data) + row * hands, hands}; }
  Shorts AsShorts(int64_t row) const {
    return {static_cast<int16_t*>(data) + row * hands, scale + row, hands};
  }
};

#endif  // JAXSOLVE_SPOT_ROWS_H_

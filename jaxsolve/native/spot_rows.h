// Arithmetic of rows [hands]: policies, averages, regrets, and their storage in 32 or 16 bits.

#ifndef JAXSOLVE_SPOT_ROWS_H_
#define JAXSOLVE_SPOT_ROWS_H_

#include <cmath>
#include <cstring>
#include <vector>

#include "boards.h"

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

// Shares of the positive parts of rows, uniform where there are none. `out` may be `from`.
inline void Shares(int width, const float* const* from, int64_t n, float* const* out) {
  EachHand(n, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    V total = zero;
    for (int a = 0; a < width; ++a) {
      const V x = SpotGet<V>(from[a] + h);
      total += x > zero ? x : zero;
    }
    const V one = zero + 1, scale = one / (total > zero ? total : one);
    const V even = total > zero ? zero : zero + 1.0f / width;
    for (int a = 0; a < width; ++a) {
      const V x = SpotGet<V>(from[a] + h);
      SpotSet<V>(out[a] + h, (x > zero ? x : zero) * scale + even);
    }
  });
}

inline void Product(int64_t n, const float* __restrict a, const float* __restrict b,
                    float* __restrict out) {
  for (int64_t h = 0; h < n; ++h) out[h] = a[h] * b[h];
}

// The value of a row of decisions is added to `to`.
inline void Worth(int width, const float* const* policy, const float* const* worth, int64_t n,
                  float* to) {
  EachHand(n, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    V value = zero;
    for (int a = 0; a < width; ++a) value += SpotGet<V>(policy[a] + h) * SpotGet<V>(worth[a] + h);
    SpotSet<V>(to + h, SpotGet<V>(to + h) + value);
  });
}

// The most of the actions of a row is added to `to`.
inline void Most(int width, const float* const* worth, int64_t n, float* to) {
  EachHand(n, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    V most = SpotGet<V>(worth[0] + h);
    for (int a = 1; a < width; ++a) {
      const V x = SpotGet<V>(worth[a] + h);
      most = x > most ? x : most;
    }
    SpotSet<V>(to + h, SpotGet<V>(to + h) + most);
  });
}

// Updates regrets, adds the value of the row to `to`, and writes the next policy over `policy` if
// regrets are predicted.
template <bool predicted>
void UpdateRegrets(const SpotNumbers& x, int width, float* const* policy, const float* const* worth,
                   float* const* regret, int64_t n, float* to) {
  EachHand(n, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    const V positive = zero + x.positive, negative = zero + x.negative, least = zero + x.least;
    V value = zero, total = zero;
    for (int a = 0; a < width; ++a) value += SpotGet<V>(policy[a] + h) * SpotGet<V>(worth[a] + h);
    for (int a = 0; a < width; ++a) {
      const V now = SpotGet<V>(worth[a] + h) - value, old = SpotGet<V>(regret[a] + h);
      V sum = old * (old > zero ? positive : negative) + now;
      sum = sum > least ? sum : least;
      SpotSet<V>(regret[a] + h, sum);
      if constexpr (predicted) {
        V play = sum * (sum > zero ? zero + x.play_positive : zero + x.play_negative);
        play += (zero + x.prediction) * now;
        play = play > zero ? play : zero;
        SpotSet<V>(policy[a] + h, play);
        total += play;
      }
    }
    if constexpr (predicted) {
      const V one = zero + 1, scale = one / (total > zero ? total : one);
      const V even = total > zero ? zero : zero + 1.0f / width;
      for (int a = 0; a < width; ++a) {
        SpotSet<V>(policy[a] + h, SpotGet<V>(policy[a] + h) * scale + even);
      }
    }
    SpotSet<V>(to + h, SpotGet<V>(to + h) + value);
  });
}

inline void Blend(int64_t n, const float* __restrict value, float share, float* __restrict mean) {
  for (int64_t h = 0; h < n; ++h) mean[h] += (value[h] - mean[h]) * share;
}

// Numbers in [0, 1) that rows of 16 bits are rounded by: `kDither` of them, then the first ones again.
constexpr int64_t kDither = 4096, kMostHands = 1326;

inline const float* Dither() {
  static const std::vector<float> numbers = [] {
    std::vector<float> made(kDither + kMostHands);
    uint32_t x = 0x9e3779b9u;
    for (int64_t k = 0; k < kDither; ++k) {
      x ^= x << 13, x ^= x >> 17, x ^= x << 5;
      made[k] = static_cast<float>(x >> 24) / 256;
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
float Pack(int64_t n, const float* from, uint32_t seed, float levels, float least, Number* to) {
  // A little less, so that rounding up stays within 16 bits.
  const float most = Largest(n, from), step = most / levels, by = most > 0 ? 1 / step : 0;
  const float* dither = Dither() + seed % kDither;
  for (int64_t h = 0; h < n; ++h) {
    const auto x = static_cast<int32_t>(from[h] * by + (dither[h] - least));
    to[h] = static_cast<Number>(x + static_cast<int32_t>(least));
  }
  return step;
}

// Rows [hands] of a state, in 32 bits, or in 16 with or without a sign.
struct SpotArray {
  void* data;
  float* scale;  // of each row of 16 bits
  int64_t hands, bits;
  bool sign;

  // A row as floats: where it is, or in `room`.
  float* Read(int64_t row, float* room) const {
    if (bits == 32) return static_cast<float*>(data) + row * hands;
    const float step = scale[row];
    if (sign) {
      const int16_t* from = static_cast<const int16_t*>(data) + row * hands;
      for (int64_t h = 0; h < hands; ++h) room[h] = from[h] * step;
    } else {
      const uint16_t* from = static_cast<const uint16_t*>(data) + row * hands;
      for (int64_t h = 0; h < hands; ++h) room[h] = from[h] * step;
    }
    return room;
  }

  // Keeps a row that `Read` has given.
  void Write(int64_t row, const float* from, uint32_t seed) const {
    if (bits == 32) return;
    if (sign) {
      scale[row] = Pack(hands, from, seed, 32766, -32768, static_cast<int16_t*>(data) + row * hands);
    } else {
      scale[row] = Pack(hands, from, seed, 65534, 0, static_cast<uint16_t*>(data) + row * hands);
    }
  }
};

#endif  // JAXSOLVE_SPOT_ROWS_H_

// What is done to hands one by one: products, averages, and the update of a row.

#ifndef JAXSOLVE_UPDATE_H_
#define JAXSOLVE_UPDATE_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "boards.h"

// Coefficients of one update, and the weight of this iteration in the average.
struct Numbers {
  float positive, negative, least, play_positive, play_negative, prediction, share;
};

inline void Average(float* __restrict mean, float* __restrict lost, const float* __restrict value,
             float share, int64_t n) {
  for (int64_t h = 0; h < n; ++h) {  // Kahan summation, as `Mean.add`
    const float step = (value[h] - mean[h]) * share - lost[h];
    const float next = mean[h] + step;
    lost[h] = (next - mean[h]) - step;
    mean[h] = next;
  }
}

inline void Multiply(float* __restrict out, const float* __restrict a, const float* __restrict b,
              int64_t n) {
  for (int64_t h = 0; h < n; ++h) out[h] = a[h] * b[h];
}

// The row being updated: its arrays by action, and where its value goes.
struct Actions {
  int width;
  std::vector<const float*> worth;
  std::vector<float*> policy, regret;
  float* to;
  bool add;
};

template <class V>
V Get(const float* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class V>
void Set(float* to, V v) {
  std::memcpy(to, &v, sizeof v);
}

// One SIMD vector of hands, or one hand: regrets, next policy, and the value of the row.
template <class V>
void UpdateHands(const Numbers& x, const Actions& row, int64_t h) {
  const V zero = {}, one = zero + 1, even = zero + 1.0f / row.width;
  const V positive = zero + x.positive, negative = zero + x.negative, least = zero + x.least;
  const V play_positive = zero + x.play_positive, play_negative = zero + x.play_negative;
  const V prediction = zero + x.prediction;
  V value = zero, total = zero;
  for (int a = 0; a < row.width; ++a) {
    value += Get<V>(row.policy[a] + h) * Get<V>(row.worth[a] + h);
  }
  for (int a = 0; a < row.width; ++a) {
    const V now = Get<V>(row.worth[a] + h) - value;
    const V old = Get<V>(row.regret[a] + h);
    V sum = old * (old > zero ? positive : negative) + now;
    sum = sum > least ? sum : least;
    Set(row.regret[a] + h, sum);
    V play = sum * (sum > zero ? play_positive : play_negative) + prediction * now;
    play = play > zero ? play : zero;
    Set(row.policy[a] + h, play);
    total += play;
  }
  const V scale = one / (total > zero ? total : one);
  const V uniform = total > zero ? zero : even;
  for (int a = 0; a < row.width; ++a) {
    Set(row.policy[a] + h, Get<V>(row.policy[a] + h) * scale + uniform);
  }
  Set(row.to + h, row.add ? Get<V>(row.to + h) + value : value);
}

inline void UpdateRow(const Numbers& x, const Actions& row, int64_t begin, int64_t end) {
  int64_t h = begin;
  for (; h + W <= end; h += W) UpdateHands<Lane>(x, row, h);
  for (; h < end; ++h) UpdateHands<float>(x, row, h);
}

#endif  // JAXSOLVE_UPDATE_H_

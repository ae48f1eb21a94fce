// Hands on boards, and what one hold'em leaf pays against a vector of the opponent's reach.
//
// Leaves of one kind on one board are worked on W at a time, one per SIMD lane: their reach vectors
// are transposed into a tile [place of the hand][lane], values are built in a second tile, and each
// lane goes to the row of the sequence that its leaf hangs from. On a complete board the places are
// in order of strength; on others any order will do.

#ifndef JAXSOLVE_BOARDS_H_
#define JAXSOLVE_BOARDS_H_

#include <algorithm>
#include <cstdint>

#include "lanes.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

constexpr int kCards = 52;

struct Boards {
  int64_t hands;
  const int32_t* place;  // [boards, hands], of the hands that do not meet the board; else `hands`
  const uint8_t* pair;   // [boards, hands, 2], the cards of the hand at each place
  const int32_t* high;   // [boards, hands], place after the tie group of the hand at each place
  const int32_t* count;  // [boards], hands that do not meet the board
  const float* matrix;   // [all-in boards, hands, hands]
};

#if defined(__AVX__)
inline void Transpose(__m256* x) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    a[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
    b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
    b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
}
#endif

// Puts W rows [hands] into a tile. Without `place` every hand keeps its number.
inline void Load(int64_t hands, const float* const* from, const int32_t* place, Lane* tile) {
  int64_t h = 0;
#if defined(__AVX2__)
  for (; h + 8 <= hands; h += 8) {
    for (int part = 0; part < W; part += 8) {
      __m256 x[8];
      for (int l = 0; l < 8; ++l) x[l] = _mm256_loadu_ps(from[part + l] + h);
      Transpose(x);
      for (int j = 0; j < 8; ++j) {
        Lane* at = tile + (place ? place[h + j] : h + j);
        _mm256_store_ps(reinterpret_cast<float*>(at) + part, x[j]);
      }
    }
  }
#endif
  for (; h < hands; ++h) {
    for (int l = 0; l < W; ++l) tile[place ? place[h] : h][l] = from[l][h];
  }
}

// Adds the first lanes of a tile, times their amounts, to rows [hands].
inline void Add(int64_t hands, const Lane* tile, const int32_t* place, int lanes,
                const float* amount, float* const* to) {
  int64_t h = 0;
#if defined(__AVX2__)
  for (; h + 8 <= hands; h += 8) {
    for (int part = 0; part < lanes; part += 8) {
      __m256 x[8];
      for (int j = 0; j < 8; ++j) {
        const Lane* at = tile + (place ? place[h + j] : h + j);
        x[j] = _mm256_load_ps(reinterpret_cast<const float*>(at) + part);
      }
      Transpose(x);
      for (int l = part; l < std::min(lanes, part + 8); ++l) {
        const __m256 value = _mm256_mul_ps(_mm256_set1_ps(amount[l]), x[l - part]);
        _mm256_storeu_ps(to[l] + h, _mm256_add_ps(_mm256_loadu_ps(to[l] + h), value));
      }
    }
  }
#endif
  for (; h < hands; ++h) {
    for (int l = 0; l < lanes; ++l) to[l][h] += amount[l] * tile[place ? place[h] : h][l];
  }
}

inline void Fold(const Boards& b, int64_t board, const Lane* r, Lane* v) {
  const uint8_t* pair = b.pair + 2 * board * b.hands;
  const int64_t n = b.count[board];
  Lane total = {}, card[kCards] = {};
  for (int64_t k = 0; k < n; ++k) {
    total += r[k];
    card[pair[2 * k]] += r[k];
    card[pair[2 * k + 1]] += r[k];
  }
  for (int64_t k = 0; k < n; ++k) v[k] = total - card[pair[2 * k]] - card[pair[2 * k + 1]] + r[k];
}

// Weaker minus stronger hands, as (weaker) + (weaker and equal) - all: the first two are running
// totals of those that share no card, the last is known after the pass.
inline void Showdown(const Boards& b, int64_t board, const Lane* r, Lane* v) {
  const uint8_t* pair = b.pair + 2 * board * b.hands;
  const int32_t* high = b.high + board * b.hands;
  const int64_t n = b.count[board];
  Lane total = {}, card[kCards] = {};
  for (int64_t k = 0; k < n;) {
    const int64_t begin = k, end = high[k];
    if (end == begin + 1) {
      const int a = pair[2 * k], c = pair[2 * k + 1];
      const Lane x = r[k], first = card[a], second = card[c], weaker = total - first - second;
      v[k] = weaker + weaker - x;
      total += x;
      card[a] = first + x;
      card[c] = second + x;
      k = end;
      continue;
    }
    for (; k < end; ++k) v[k] = total - card[pair[2 * k]] - card[pair[2 * k + 1]];
    for (k = begin; k < end; ++k) {
      total += r[k];
      card[pair[2 * k]] += r[k];
      card[pair[2 * k + 1]] += r[k];
    }
    for (k = begin; k < end; ++k) v[k] += total - card[pair[2 * k]] - card[pair[2 * k + 1]];
  }
  for (int64_t k = 0; k < n; ++k) v[k] -= total - card[pair[2 * k]] - card[pair[2 * k + 1]];
}

inline void AllIn(const Boards& b, int64_t index, const Lane* r, Lane* v) {
  const int64_t n = b.hands;
  const float* m = b.matrix + index * n * n;
  int64_t h = 0;
  for (; h + 4 <= n; h += 4) {
    const float *a = m + h * n, *c = a + n, *d = c + n, *e = d + n;
    Lane s0 = {}, s1 = {}, s2 = {}, s3 = {};
    for (int64_t j = 0; j < n; ++j) {
      s0 += a[j] * r[j];
      s1 += c[j] * r[j];
      s2 += d[j] * r[j];
      s3 += e[j] * r[j];
    }
    v[h] = s0, v[h + 1] = s1, v[h + 2] = s2, v[h + 3] = s3;
  }
  for (; h < n; ++h) {
    Lane s = {};
    for (int64_t j = 0; j < n; ++j) s += m[h * n + j] * r[j];
    v[h] = s;
  }
}

// Adds what a run of leaves of one kind on one board pays to the rows that they hang from.
// `task` is (kind, board or matrix, first leaf, last leaf); `from` and `to` give the row of a leaf.
template <class From, class To>
void Pay(const Boards& b, const int32_t* task, const float* amount, From from, To to, Tiles& tiles) {
  const int32_t* place = task[0] == kAllIn ? nullptr : b.place + task[1] * b.hands;
  for (int64_t at = task[2]; at < task[3]; at += W) {
    const int lanes = static_cast<int>(std::min<int64_t>(W, task[3] - at));
    const float* reach[W];
    float* value[W];
    for (int l = 0; l < W; ++l) reach[l] = from(at + std::min(l, lanes - 1));
    for (int l = 0; l < lanes; ++l) value[l] = to(at + l);
    Load(b.hands, reach, place, tiles.reach());
    if (task[0] == kFold) Fold(b, task[1], tiles.reach(), tiles.value());
    if (task[0] == kShowdown) Showdown(b, task[1], tiles.reach(), tiles.value());
    if (task[0] == kAllIn) AllIn(b, task[1], tiles.reach(), tiles.value());
    tiles.value()[b.hands] = Lane{};
    Add(b.hands, tiles.value(), place, lanes, amount + at, value);
  }
}

#endif  // JAXSOLVE_BOARDS_H_

// Features of hold'em hands for card abstraction, and the nearest of some centres.
//
// Each function has a NumPy twin with the same numbers: `jaxsolve/holdem/_features.py` and
// `jaxsolve/abstraction/_kmeans.py`. Hands are numbered as in `jaxsolve/holdem/_cards.py`.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "boards.h"
#include "strength.h"

namespace {

constexpr int kHands = 1326, kOnRiver = 1081, kOpponents = 990, kBoard = 5;

struct Hands {
  uint8_t card[kHands][2];
  Hands() {
    int n = 0;
    for (int a = 0; a < kCards; ++a) {
      for (int b = a + 1; b < kCards; ++b, ++n) card[n][0] = a, card[n][1] = b;
    }
  }
};
const Hands kDeck;

// Hands on one river in order of strength.
struct River {
  int32_t strength[kOnRiver];
  int32_t hand[kOnRiver];  // by place
  uint8_t pair[kOnRiver][2];
  int32_t high[kOnRiver];

  explicit River(const uint8_t* board) {
    Suits on_board;
    for (int k = 0; k < kBoard; ++k) on_board.Add(board[k]);
    const Suits& s = on_board;
    int n = 0;
    for (int h = 0; h < kHands; ++h) {
      const int a = kDeck.card[h][0], b = kDeck.card[h][1];
      if ((s.rank[a & 3] >> (a >> 2) & 1) | (s.rank[b & 3] >> (b >> 2) & 1)) continue;
      Suits held = on_board;
      held.Add(a);
      held.Add(b);
      hand[n] = h;
      strength[n++] = Strength(held);
    }
    Sort();
    for (int k = 0; k < kOnRiver; ++k) {
      pair[k][0] = kDeck.card[hand[k]][0];
      pair[k][1] = kDeck.card[hand[k]][1];
    }
    for (int k = kOnRiver - 1, end = kOnRiver; k >= 0; --k) {
      high[k] = end;
      if (k > 0 && strength[k - 1] != strength[k]) end = k;
    }
  }

 private:
  // By ten bits at a time, the lowest first; hands of equal strength stay in their order.
  void Sort() {
    int32_t key[kOnRiver], value[kOnRiver];
    int32_t *from[2] = {strength, hand}, *to[2] = {key, value};
    for (int shift = 0; shift < 30; shift += 10) {
      int32_t start[1025] = {};
      for (int k = 0; k < kOnRiver; ++k) ++start[(from[0][k] >> shift & 1023) + 1];
      for (int k = 0; k < 1024; ++k) start[k + 1] += start[k];
      for (int k = 0; k < kOnRiver; ++k) {
        const int32_t at = start[from[0][k] >> shift & 1023]++;
        to[0][at] = from[0][k];
        to[1][at] = from[1][k];
      }
      std::swap(from[0], to[0]);
      std::swap(from[1], to[1]);
    }
    if (from[0] == key) {  // three passes end in the other buffer
      std::memcpy(strength, key, sizeof(key));
      std::memcpy(hand, value, sizeof(value));
    }
  }
};

int64_t BoardNumber(const int* sorted) {
  int64_t total = 0;
  for (int k = 0; k < kBoard; ++k) {
    int64_t choose = 1;
    for (int i = 0; i <= k; ++i) choose = choose * (sorted[k] - i) / (i + 1);
    total += choose;
  }
  return total;
}

}  // namespace

extern "C" {

// Strength of every hand on rivers: boards [count, 5] -> strength [count, 1326], -1 where they meet.
void jaxsolve_river_strength(const uint8_t* boards, int64_t count, int32_t* strength) {
  std::fill(strength, strength + count * kHands, -1);
  for (int64_t b = 0; b < count; ++b) {
    const River river(boards + b * kBoard);
    for (int k = 0; k < kOnRiver; ++k) strength[b * kHands + river.hand[k]] = river.strength[k];
  }
}

// Equity of every hand on rivers: against all other hands as one of `bins` equal steps, `bins` where
// hand and board meet, bin [count, 1326]; and against each group of hands, equity [count, 1326,
// groups]. `group` [1326] is in 0..groups - 1.
void jaxsolve_river_features(const uint8_t* boards, int64_t count, const uint8_t* group,
                             int64_t groups, int64_t bins, uint8_t* bin, float* equity) {
  Tiles tiles(kOnRiver), totals(kOnRiver);
  const int32_t hands = kOnRiver;
  std::fill(bin, bin + count * kHands, static_cast<uint8_t>(bins));
  for (int64_t b = 0; b < count; ++b) {
    const River river(boards + b * kBoard);
    const Boards one = {kOnRiver, nullptr, river.pair[0], river.high, &hands, nullptr};
    float won[kOnRiver] = {};  // against all: twice the wins, and the ties, less the opponents
    for (int64_t first = 0; first < groups; first += W) {
      const int lanes = static_cast<int>(std::min<int64_t>(W, groups - first));
      Lane *reach = tiles.reach(), *value = tiles.value(), *total = totals.value();
      for (int k = 0; k < kOnRiver; ++k) {
        reach[k] = Lane{};
        const int64_t lane = group[river.hand[k]] - first;
        if (lane >= 0 && lane < lanes) reach[k][lane] = 1;
      }
      Showdown(one, 0, reach, value);
      Fold(one, 0, reach, total);
      for (int k = 0; k < kOnRiver; ++k) {
        for (int l = 0; l < lanes; ++l) won[k] += value[k][l];
        float* to = equity + ((b * kHands + river.hand[k]) * groups + first);
        for (int l = 0; l < lanes; ++l) {
          to[l] = total[k][l] > 0 ? .5f + .5f * value[k][l] / total[k][l] : .5f;
        }
      }
    }
    for (int k = 0; k < kOnRiver; ++k) {
      const int64_t twice = static_cast<int64_t>(won[k]) + kOpponents;
      bin[b * kHands + river.hand[k]] = twice * bins / (2 * kOpponents + 1);
    }
  }
}

// Cumulative histograms of river equity: boards [count, cards], the lowest card first, ->
// features [count, 1326, bins - 1], the share of rivers in the first bins; 0 where they meet.
// `code` and `after` are the look-ups of `_canonical.py`, `bin` [rivers, 1326] is from above.
void jaxsolve_histograms(const uint8_t* boards, int64_t count, int64_t cards, const uint32_t* code,
                         const uint16_t* after, const uint8_t* bin, int64_t bins, float* features) {
  const int64_t stride = bins + 1;
  std::vector<uint16_t> counts(kHands * stride);
  for (int64_t b = 0; b < count; ++b) {
    const uint8_t* board = boards + b * cards;
    std::fill(counts.begin(), counts.end(), 0);
    const auto add = [&](int c, int d) {  // d is -1 on the turn
      int all[kBoard] = {};
      for (int k = 0; k < cards; ++k) {
        if (board[k] == c || board[k] == d) return;
        all[k] = board[k];
      }
      all[cards] = c;
      if (d >= 0) all[cards + 1] = d;
      std::sort(all, all + kBoard);
      const uint32_t found = code[BoardNumber(all)];
      const uint8_t* row = bin + static_cast<int64_t>(found >> 5) * kHands;
      const uint16_t* to = after + (found & 31) * kHands;
      uint16_t* at = counts.data();
      for (int h = 0; h < kHands; ++h, at += stride) ++at[row[to[h]]];
    };
    for (int c = 0; c < kCards; ++c) {
      if (cards + 1 == kBoard) {
        add(c, -1);
      } else {
        for (int d = c + 1; d < kCards; ++d) add(c, d);
      }
    }
    for (int h = 0; h < kHands; ++h) {
      const uint16_t* at = counts.data() + h * stride;
      float* to = features + (b * kHands + h) * (bins - 1);
      int total = 0, sum = 0;
      for (int k = 0; k < bins; ++k) total += at[k];
      const float share = total ? 1.f / total : 0.f;
      for (int k = 0; k + 1 < bins; ++k) to[k] = share * (sum += at[k]);
    }
  }
}

// The nearest centre of points [n, d] among centres [k, d], the first of equals, and the square of
// its distance.
void jaxsolve_nearest(const float* points, int64_t n, const float* centres, int64_t k, int64_t d,
                      int32_t* nearest, float* distance) {
  constexpr int kVectors = 2, kTogether = 4, kPoints = kVectors * W;
  typedef int32_t Index __attribute__((vector_size(4 * W), aligned(4 * W)));
  std::vector<float> half(k);  // half the square of each centre
  for (int64_t c = 0; c < k; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < d; ++j) sum += centres[c * d + j] * centres[c * d + j];
    half[c] = sum / 2;
  }
  Tiles tiles(d * kVectors);
  Lane* x = tiles.reach();  // [d][kVectors], a point per lane
  for (int64_t at = 0; at < n; at += kPoints) {
    Lane square[kVectors] = {}, best[kVectors];
    Index which[kVectors] = {};
    for (int64_t j = 0; j < d; ++j) {
      for (int v = 0; v < kVectors; ++v) {
        for (int l = 0; l < W; ++l) {
          x[j * kVectors + v][l] = points[std::min(at + v * W + l, n - 1) * d + j];
        }
        square[v] += x[j * kVectors + v] * x[j * kVectors + v];
      }
    }
    for (int v = 0; v < kVectors; ++v) best[v] = Lane{} + 3e38f;
    const auto visit = [&](auto together, int64_t c) {
      constexpr int m = decltype(together)::value;
      Lane score[m][kVectors];
      for (int i = 0; i < m; ++i) {
        for (int v = 0; v < kVectors; ++v) score[i][v] = Lane{} + half[c + i];
      }
      const float* from = centres + c * d;
      for (int64_t j = 0; j < d; ++j) {
        for (int i = 0; i < m; ++i) {
          for (int v = 0; v < kVectors; ++v) score[i][v] -= from[i * d + j] * x[j * kVectors + v];
        }
      }
      for (int i = 0; i < m; ++i) {
        for (int v = 0; v < kVectors; ++v) {
          const Index less = score[i][v] < best[v];
          best[v] = less ? score[i][v] : best[v];
          which[v] = less ? Index{} + static_cast<int32_t>(c + i) : which[v];
        }
      }
    };
    int64_t c = 0;
    for (; c + kTogether <= k; c += kTogether) visit(std::integral_constant<int, kTogether>(), c);
    for (; c < k; ++c) visit(std::integral_constant<int, 1>(), c);
    for (int64_t p = 0; p < kPoints && at + p < n; ++p) {
      nearest[at + p] = which[p / W][p % W];
      const float total = square[p / W][p % W] + 2 * best[p / W][p % W];
      distance[at + p] = std::max(0.f, total);
    }
  }
}

}  // extern "C"

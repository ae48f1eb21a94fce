// Counterfactual values of hold'em leaves: folds, showdowns and all-ins against a reach vector.
//
// A task is a run of leaves of one kind on one board. Its leaves are worked on W at a time, one per
// SIMD lane: a tile [hand][lane] of the opponent's reach is read once, values are built in a second
// tile, and each lane is added to the row of the sequence that its leaf hangs from. Tasks that write
// the same rows belong to one unit; units are shared out among XLA's threads.
//
// Showdowns take two passes over the hands in order of strength with a running total and a running
// sum per card, so that hands that share a card are taken out again (see _payoffs.py).

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif
typedef float Lane __attribute__((vector_size(4 * W), aligned(4 * W)));

enum Kind { kFold = 0, kShowdown = 1, kAllIn = 2 };
constexpr int kCards = 52;

struct Work {
  int64_t hands, units, tasks, zeros;
  const float* reach;      // [sequences of the opponent, hands]
  const int32_t* cards;    // [hands, 2]
  const uint8_t* live;     // [boards, hands]
  const int32_t* order;    // [showdown boards, hands], live hands by strength, then -1
  const int32_t* low;      // [showdown boards, hands], first place of the tie group, by place
  const int32_t* high;     // [showdown boards, hands], place after the tie group, by place
  const float* matrix;     // [all-in boards, hands, hands]
  const int32_t* task;     // [tasks, 5]: kind, board or matrix, first leaf, last leaf, unit
  const int32_t* own;      // [leaves], row of the result
  const int32_t* other;    // [leaves], row of the reach
  const uint8_t* first;    // [leaves], the row has not been written before
  const float* amount;     // [leaves]
  const int32_t* zero;     // [zeros], rows without a leaf
  float* out;              // [own sequences, hands]
  std::atomic<int64_t> next{0};
};

void Fold(const Work& w, int64_t board, const Lane* r, Lane* v) {
  Lane total = {}, card[kCards] = {};
  const uint8_t* live = w.live + board * w.hands;
  for (int64_t h = 0; h < w.hands; ++h) {
    if (!live[h]) continue;
    total += r[h];
    card[w.cards[2 * h]] += r[h];
    card[w.cards[2 * h + 1]] += r[h];
  }
  for (int64_t h = 0; h < w.hands; ++h) {
    v[h] = live[h] ? total - card[w.cards[2 * h]] - card[w.cards[2 * h + 1]] + r[h] : Lane{};
  }
}

void Showdown(const Work& w, int64_t board, const Lane* r, Lane* v) {
  const int32_t* order = w.order + board * w.hands;
  const int32_t* low = w.low + board * w.hands;
  const int32_t* high = w.high + board * w.hands;
  int64_t n = w.hands;
  while (n > 0 && order[n - 1] < 0) --n;
  if (n < w.hands) std::fill(v, v + w.hands, Lane{});
  Lane total = {}, card[kCards] = {};
  for (int64_t i = 0; i < n;) {
    const int64_t end = high[i];
    for (int64_t k = i; k < end; ++k) {
      const int64_t h = order[k];
      v[h] = total - card[w.cards[2 * h]] - card[w.cards[2 * h + 1]];
    }
    for (int64_t k = i; k < end; ++k) {
      const int64_t h = order[k];
      total += r[h];
      card[w.cards[2 * h]] += r[h];
      card[w.cards[2 * h + 1]] += r[h];
    }
    i = end;
  }
  total = Lane{};
  std::fill(card, card + kCards, Lane{});
  for (int64_t i = n; i > 0;) {
    const int64_t begin = low[i - 1];
    for (int64_t k = begin; k < i; ++k) {
      const int64_t h = order[k];
      v[h] -= total - card[w.cards[2 * h]] - card[w.cards[2 * h + 1]];
    }
    for (int64_t k = begin; k < i; ++k) {
      const int64_t h = order[k];
      total += r[h];
      card[w.cards[2 * h]] += r[h];
      card[w.cards[2 * h + 1]] += r[h];
    }
    i = begin;
  }
}

void AllIn(const Work& w, int64_t index, const Lane* r, Lane* v) {
  const int64_t n = w.hands;
  const float* m = w.matrix + index * n * n;
  int64_t h = 0;
  for (; h + 4 <= n; h += 4) {
    const float *a = m + h * n, *b = a + n, *c = b + n, *d = c + n;
    Lane s0 = {}, s1 = {}, s2 = {}, s3 = {};
    for (int64_t j = 0; j < n; ++j) {
      s0 += a[j] * r[j];
      s1 += b[j] * r[j];
      s2 += c[j] * r[j];
      s3 += d[j] * r[j];
    }
    v[h] = s0, v[h + 1] = s1, v[h + 2] = s2, v[h + 3] = s3;
  }
  for (; h < n; ++h) {
    Lane s = {};
    for (int64_t j = 0; j < n; ++j) s += m[h * n + j] * r[j];
    v[h] = s;
  }
}

void Task(const Work& w, const int32_t* task, Lane* r, Lane* v) {
  const int64_t n = w.hands;
  for (int64_t at = task[2]; at < task[3]; at += W) {
    const int lanes = static_cast<int>(std::min<int64_t>(W, task[3] - at));
    const float* from[W];
    for (int l = 0; l < W; ++l) from[l] = w.reach + n * w.other[at + std::min(l, lanes - 1)];
    for (int64_t h = 0; h < n; ++h) {
      for (int l = 0; l < W; ++l) r[h][l] = from[l][h];
    }
    if (task[0] == kFold) Fold(w, task[1], r, v);
    if (task[0] == kShowdown) Showdown(w, task[1], r, v);
    if (task[0] == kAllIn) AllIn(w, task[1], r, v);
    for (int l = 0; l < lanes; ++l) {
      float* row = w.out + n * w.own[at + l];
      const float amount = w.amount[at + l];
      if (w.first[at + l]) {
        for (int64_t h = 0; h < n; ++h) row[h] = amount * v[h][l];
      } else {
        for (int64_t h = 0; h < n; ++h) row[h] += amount * v[h][l];
      }
    }
  }
}

struct Free {
  void operator()(Lane* tiles) const { operator delete[](tiles, std::align_val_t(64)); }
};

void Run(Work& w) {
  std::unique_ptr<Lane[], Free> memory(new (std::align_val_t(64)) Lane[2 * w.hands]);
  Lane* tiles = memory.get();
  for (int64_t unit; (unit = w.next.fetch_add(1)) < w.units;) {
    for (int64_t k = unit; k < w.zeros; k += w.units) {
      float* row = w.out + w.hands * w.zero[k];
      std::fill(row, row + w.hands, 0.0f);
    }
    for (int64_t k = 0; k < w.tasks; ++k) {
      const int32_t* task = w.task + 5 * k;
      if (task[4] == unit) Task(w, task, tiles, tiles + w.hands);
    }
  }
}

using F32 = ffi::Buffer<ffi::F32>;
using S32 = ffi::Buffer<ffi::S32>;
using U8 = ffi::Buffer<ffi::U8>;

ffi::Future Leaves(ffi::ThreadPool pool, F32 reach, S32 cards, U8 live, S32 order, S32 low,
                   S32 high, F32 matrix, S32 task, S32 own, S32 other, U8 first, F32 amount,
                   S32 zero, ffi::Result<F32> out) {
  auto w = std::make_shared<Work>();
  w->hands = cards.dimensions()[0];
  w->tasks = task.dimensions()[0];
  w->zeros = zero.dimensions()[0];
  w->reach = reach.typed_data();
  w->cards = cards.typed_data();
  w->live = live.typed_data();
  w->order = order.typed_data();
  w->low = low.typed_data();
  w->high = high.typed_data();
  w->matrix = matrix.typed_data();
  w->task = task.typed_data();
  w->own = own.typed_data();
  w->other = other.typed_data();
  w->first = first.typed_data();
  w->amount = amount.typed_data();
  w->zero = zero.typed_data();
  w->out = out->typed_data();
  w->units = 1;
  for (int64_t k = 0; k < w->tasks; ++k) {
    w->units = std::max<int64_t>(w->units, w->task[5 * k + 4] + 1);
  }
  const int64_t workers = std::max<int64_t>(1, std::min(w->units, pool.num_threads()));
  ffi::CountDownPromise promise(workers);
  ffi::Future future(promise);
  for (int64_t k = 1; k < workers; ++k) {
    pool.Schedule([w, promise]() mutable {
      Run(*w);
      promise.CountDown();
    });
  }
  Run(*w);
  promise.CountDown();
  return future;
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveLeaves, Leaves,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()   // reach
                                  .Arg<S32>()   // cards
                                  .Arg<U8>()    // live
                                  .Arg<S32>()   // order
                                  .Arg<S32>()   // low
                                  .Arg<S32>()   // high
                                  .Arg<F32>()   // matrix
                                  .Arg<S32>()   // task
                                  .Arg<S32>()   // own
                                  .Arg<S32>()   // other
                                  .Arg<U8>()    // first
                                  .Arg<F32>()   // amount
                                  .Arg<S32>()   // zero
                                  .Ret<F32>());

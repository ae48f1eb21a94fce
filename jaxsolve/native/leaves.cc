// The payoff operator: counterfactual values of every sequence from the leaves that hang from it.
//
// Tasks that write the same rows belong to one unit; units are shared out among XLA's threads.

#include <cstring>

#include "boards.h"
#include "pool.h"

namespace ffi = xla::ffi;

namespace {

using F32 = ffi::Buffer<ffi::F32>;
using S32 = ffi::Buffer<ffi::S32>;
using U8 = ffi::Buffer<ffi::U8>;

struct Job {
  Boards boards;
  int64_t tasks, rows;
  const float* reach;    // [sequences of the opponent, hands]
  const int32_t* task;   // [tasks, 5]: kind, board or matrix, first leaf, last leaf, unit
  const int32_t* own;    // [leaves], row of the result
  const int32_t* other;  // [leaves], row of the reach
  const float* amount;   // [leaves]
  float* out;            // [own sequences, hands]
  Phases phases;
};

void Unit(const Job& w, int64_t unit) {
  Tiles tiles(w.boards.hands);
  for (int64_t k = 0; k < w.tasks; ++k) {
    const int32_t* task = w.task + 5 * k;
    if (task[4] != unit) continue;
    Pay(
        w.boards, task, w.amount,
        [&](int64_t leaf) { return w.reach + w.boards.hands * w.other[leaf]; },
        [&](int64_t leaf) { return w.out + w.boards.hands * w.own[leaf]; }, tiles);
  }
}

ffi::Error Leaves(ffi::ThreadPool pool, F32 reach, S32 place, U8 pair, S32 high, S32 count,
                  F32 matrix, S32 task, S32 own, S32 other, F32 amount, ffi::Result<F32> out) {
  auto w = std::make_shared<Job>();
  const int64_t hands = reach.dimensions()[1];
  w->boards = {hands,
               place.typed_data(),
               pair.typed_data(),
               high.typed_data(),
               count.typed_data(),
               matrix.typed_data()};
  w->tasks = task.dimensions()[0];
  w->rows = out->dimensions()[0];
  w->reach = reach.typed_data();
  w->task = task.typed_data();
  w->own = own.typed_data();
  w->other = other.typed_data();
  w->amount = amount.typed_data();
  w->out = out->typed_data();
  int64_t units = 1;
  for (int64_t k = 0; k < w->tasks; ++k) units = std::max<int64_t>(units, w->task[5 * k + 4] + 1);
  const int64_t workers = std::max<int64_t>(1, std::min(units, pool.num_threads()));
  Job* j = w.get();
  w->phases.Then(workers, [j, workers](int64_t k) {
    const int64_t begin = j->rows * k / workers, end = j->rows * (k + 1) / workers;
    std::memset(j->out + begin * j->boards.hands, 0, (end - begin) * j->boards.hands * 4);
  });
  w->phases.Then(units, [j](int64_t unit) { Unit(*j, unit); });
  w->phases.Run(pool, workers, w);
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveLeaves, Leaves,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()   // reach
                                  .Arg<S32>()   // place
                                  .Arg<U8>()    // pair
                                  .Arg<S32>()   // high
                                  .Arg<S32>()   // count
                                  .Arg<F32>()   // matrix
                                  .Arg<S32>()   // task
                                  .Arg<S32>()   // own
                                  .Arg<S32>()   // other
                                  .Arg<F32>()   // amount
                                  .Ret<F32>());

// Whole iterations of CFR on a hold'em tree: each player's reach, average, leaves, values, regrets and
// next policy in one pass, board by board, so that what a board needs stays in cache. Several
// iterations are one call, because waking a thread takes longer than a small river.
//
// Down: reaches of both players from their policies, and the average of the own one.
// Leaves: what they pay, added to the values of the sequences.
// Up: children before parents: values of the rows, regrets, next policy.

#include "sweep.h"

namespace {

void DownOther(const Turn& t, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(t, item);
  const int64_t n = t.job->hands;
  for (int32_t r = item.other_begin; r < item.other_end; ++r) {
    const Row& row = t.other->row[r];
    const float* above = Place(s.other, t.other->up, n, row.parent) + begin;
    for (int a = 0; a < row.width; ++a) {
      const float* p = t.other->policy.at(row.block, a, row.number, n) + begin;
      Multiply(s.other + (row.first + a) * n + begin, p, above, end - begin);
    }
  }
}

void DownOwn(const Turn& t, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(t, item);
  const int64_t n = t.job->hands;
  const Table& policy = t.own->policy;
  for (int32_t r = item.own_begin; r < item.own_end; ++r) {
    const Row& row = t.own->row[r];
    const float* above = Place(s.own, t.own->up, n, row.parent) + begin;
    for (int a = 0; a < row.width; ++a) {
      float* reach = s.own + (row.first + a) * n + begin;
      Multiply(reach, policy.at(row.block, a, row.number, n) + begin, above, end - begin);
      const int64_t sequence = policy.start[row.block] + a * policy.rows[row.block] + row.number;
      Average(t.own->mean + sequence * n + begin, t.own->lost + sequence * n + begin, reach,
              t.numbers->share, end - begin);
    }
  }
}

void Up(const Turn& t, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(t, item);
  const int64_t n = t.job->hands;
  const Player& own = *t.own;
  Actions actions;
  for (int32_t r = item.own_end; r-- > item.own_begin;) {
    const Row& row = own.row[r];
    if (item.street < t.job->last_street) Complete(t, row, s.value, begin, end);
    actions.width = row.width;
    actions.worth.clear(), actions.policy.clear(), actions.regret.clear();
    for (int a = 0; a < row.width; ++a) {
      actions.worth.push_back(s.value + (row.first + a) * n);
      actions.policy.push_back(own.policy.at(row.block, a, row.number, n));
      actions.regret.push_back(own.regret.at(row.block, a, row.number, n));
    }
    actions.add = row.slot < 0;
    actions.to = actions.add ? Place(s.value, own.value_up, n, row.parent)
                             : own.slots + row.slot * n;
    UpdateRow(*t.numbers, actions, begin, end);
  }
}

// One player's part of an iteration.
struct Iteration {
  // The empty sequences of both players.
  static void Begin(const Turn& t) {
    const int64_t n = t.job->hands;
    for (const Player* player : {t.own, t.other}) std::copy_n(player->root, n, player->up);
    std::fill_n(t.own->value_up, n, 0.0f);
    Average(t.own->mean, t.own->lost, t.own->root, t.numbers->share, n);
  }

  static void Enter(const Turn& t, const Item& item, int64_t begin, int64_t end) {
    DownOther(t, item, begin, end);
    if (item.street < t.job->last_street) DownOwn(t, item, begin, end);
    ClearValues(t, item, begin, end);
  }

  static void Leave(const Turn& t, const Item& item, int64_t begin, int64_t end) {
    if (item.street == t.job->last_street) DownOwn(t, item, begin, end);
    Up(t, item, begin, end);
  }
};

// Reads the arrays of the state in their order: average, what rounding lost, regrets, policies.
ffi::Error ReadState(const ffi::RemainingRets& state, size_t& next, int64_t blocks,
                     Player& player) {
  for (float** to : {&player.mean, &player.lost}) {
    auto array = state.get<F32>(next++);
    if (!array.has_value()) return array.error();
    *to = (*array)->typed_data();
  }
  for (Table* table : {&player.regret, &player.policy}) {
    int64_t start = 1;
    for (int64_t k = 0; k < blocks; ++k) {
      auto array = state.get<F32>(next++);
      if (!array.has_value()) return array.error();
      const auto shape = (*array)->dimensions();
      table->data.push_back((*array)->typed_data());
      table->rows.push_back(shape[1]);
      table->start.push_back(start);
      start += shape[0] * shape[1];
    }
  }
  return ffi::Error::Success();
}

ffi::Error Sweep(ffi::ThreadPool pool, S32 place, U8 pair, S32 high, S32 count, F32 matrix,
                 S32 orbit, F32 numbers, F32 root0, S32 rows0, S32 items0, S32 parts0, S32 tasks0,
                 S32 own0, S32 other0, F32 amount0, S32 slot_begin0, F32 root1, S32 rows1,
                 S32 items1, S32 parts1, S32 tasks1, S32 own1, S32 other1, F32 amount1,
                 S32 slot_begin1, ffi::RemainingArgs, ffi::Result<F32> shared,
                 ffi::Result<F32> up0, ffi::Result<F32> value0, ffi::Result<F32> slots0,
                 ffi::Result<F32> up1, ffi::Result<F32> value1, ffi::Result<F32> slots1,
                 ffi::RemainingRets state, int64_t blocks0, int64_t blocks1, int64_t room0,
                 int64_t room1) {
  static_assert(sizeof(Numbers) == 7 * sizeof(float));
  auto w = std::make_shared<Job>();
  w->hands = root0.dimensions()[1];
  w->boards = {w->hands,           place.typed_data(), pair.typed_data(),
               high.typed_data(),  count.typed_data(), matrix.typed_data()};
  w->numbers = reinterpret_cast<const Numbers*>(numbers.typed_data());
  w->steps = numbers.dimensions()[0];
  w->orbit = orbit.typed_data();
  w->items = items0.dimensions()[0];
  w->shared = shared->dimensions()[0] > 0 ? shared->typed_data() : nullptr;
  w->players[0] = Tables(root0, rows0, items0, parts0, tasks0, own0, other0, amount0, slot_begin0,
                         up0, value0, slots0, room0);
  w->players[1] = Tables(root1, rows1, items1, parts1, tasks1, own1, other1, amount1, slot_begin1,
                         up1, value1, slots1, room1);
  size_t next = 0;
  for (int i = 0; i < 2; ++i) {
    const ffi::Error error = ReadState(state, next, i == 0 ? blocks0 : blocks1, w->players[i]);
    if (error.failure()) return error;
  }
  w->last_street = w->players[0].item[w->items - 1].street;
  int64_t entries = 0;
  for (const Player& player : w->players) {
    entries += (player.room + player.item[w->items - 1].own_end) * w->hands;
  }
  const int64_t workers = entries < kLeastWork ? 1 : std::max<int64_t>(1, pool.num_threads());
  for (int64_t k = 0; k < w->steps; ++k) {
    for (int i = 0; i < 2; ++i) {
      Plan<Iteration>({w.get(), &w->players[i], &w->players[1 - i], w->numbers + k}, workers);
    }
  }
  w->phases.Run(pool, workers, w);
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveSweep, Sweep,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<S32>()  // place
                                  .Arg<U8>()   // pair
                                  .Arg<S32>()  // high
                                  .Arg<S32>()  // count
                                  .Arg<F32>()  // matrix
                                  .Arg<S32>()  // orbit
                                  .Arg<F32>()  // numbers
                                  .Arg<F32>()  // of player 0: root
                                  .Arg<S32>()  // rows
                                  .Arg<S32>()  // items
                                  .Arg<S32>()  // parts
                                  .Arg<S32>()  // tasks
                                  .Arg<S32>()  // leaf_own
                                  .Arg<S32>()  // leaf_other
                                  .Arg<F32>()  // amount
                                  .Arg<S32>()  // slot_begin
                                  .Arg<F32>()  // of player 1: likewise
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<F32>()
                                  .Arg<S32>()
                                  .RemainingArgs()  // the state, in the memory of the results
                                  .Ret<F32>()       // shared
                                  .Ret<F32>()       // of player 0: up
                                  .Ret<F32>()       // value_up
                                  .Ret<F32>()       // slots
                                  .Ret<F32>()       // of player 1: likewise
                                  .Ret<F32>()
                                  .Ret<F32>()
                                  .RemainingRets()  // the state, see ReadState
                                  .Attr<int64_t>("blocks0")
                                  .Attr<int64_t>("blocks1")
                                  .Attr<int64_t>("room0")
                                  .Attr<int64_t>("room1"));

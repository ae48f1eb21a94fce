// Payoffs and best-response payoffs of average policies on a hold'em tree, in a pass each player.
//
// The mean of a player's reach is the reach of the average policy, so nothing is multiplied on the
// way down. The payoff of a player is the sum over sequences of its reach times what leaves below
// pay; the best response takes the best action of each row on the way up.

#include <numeric>

#include "sweep.h"

namespace {

// Where a player's payoff is summed: for each item and each sixteen hands that a tile begins with.
struct Payoffs {
  std::vector<double> sums[2];
  int64_t tiles;
  double* at(const Turn& t, const Item& item, int64_t begin) {
    const int64_t i = t.own - t.job->players;
    return &sums[i][(&item - t.own->item) * tiles + begin / 16];
  }
};

struct Measuring : Job {
  Payoffs payoffs;
};

// Reads the mean reach of the sequences of a row, action by action.
const float* MeanOf(const Player& player, const Row& row, int action, int64_t hands) {
  const Table& table = player.policy;
  return player.mean +
         (table.start[row.block] + action * table.rows[row.block] + row.number) * hands;
}

double Dot(const float* a, const float* b, int64_t n) {
  double total = 0;
  for (int64_t from = 0; from < n; from += 64) {
    float some = 0;
    const int64_t to = std::min(n, from + 64);
    for (int64_t h = from; h < to; ++h) some += a[h] * b[h];
    total += some;
  }
  return total;
}

// Adds the best action of a row, hand by hand, to the sequence above.
void Best(const Turn& t, const Item& item, const Row& row, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(t, item);
  const int64_t n = t.job->hands;
  float* first = s.value + row.first * n;
  for (int a = 1; a < row.width; ++a) {
    const float* other = first + a * n;
    for (int64_t h = begin; h < end; ++h) first[h] = std::max(first[h], other[h]);
  }
  const bool add = row.slot < 0;
  float* to = add ? Place(s.value, t.own->value_up, n, row.parent) : t.own->slots + row.slot * n;
  for (int64_t h = begin; h < end; ++h) to[h] = (add ? to[h] : 0.0f) + first[h];
}

struct Measure {
  static void Begin(const Turn& t) {
    const int64_t n = t.job->hands;
    std::copy_n(t.other->mean, n, t.other->up);
    std::fill_n(t.own->value_up, n, 0.0f);
  }

  static void Enter(const Turn& t, const Item& item, int64_t begin, int64_t end) {
    const Scratch s = ScratchOf(t, item);
    const int64_t n = t.job->hands;
    for (int32_t r = item.other_begin; r < item.other_end; ++r) {
      const Row& row = t.other->row[r];
      for (int a = 0; a < row.width; ++a) {
        const float* reach = MeanOf(*t.other, row, a, n);
        std::copy(reach + begin, reach + end, s.other + (row.first + a) * n + begin);
      }
    }
    ClearValues(t, item, begin, end);
  }

  static void Leave(const Turn& t, const Item& item, int64_t begin, int64_t end) {
    const Scratch s = ScratchOf(t, item);
    const int64_t n = t.job->hands;
    const Player& own = *t.own;
    double sum = 0;
    for (int32_t r = item.own_begin; r < item.own_end; ++r) {
      for (int a = 0; a < own.row[r].width; ++a) {
        const float* value = s.value + (own.row[r].first + a) * n;
        sum += Dot(MeanOf(own, own.row[r], a, n) + begin, value + begin, end - begin);
      }
    }
    if (&item == own.item) sum += Dot(own.mean + begin, own.value_up + begin, end - begin);
    *static_cast<Measuring*>(t.job)->payoffs.at(t, item, begin) = sum;
    for (int32_t r = item.own_end; r-- > item.own_begin;) {
      if (item.street < t.job->last_street) Complete(t, own.row[r], s.value, begin, end);
      Best(t, item, own.row[r], begin, end);
    }
  }
};

void ReadMean(F32 mean, S32 blocks, Player& player) {
  player.mean = mean.typed_data();
  int64_t start = 1;
  for (int64_t k = 0; k < blocks.dimensions()[0]; ++k) {
    const int32_t* shape = blocks.typed_data() + 2 * k;
    player.policy.rows.push_back(shape[1]);
    player.policy.start.push_back(start);
    start += static_cast<int64_t>(shape[0]) * shape[1];
  }
}

ffi::Error MeasureAll(ffi::ThreadPool pool, S32 place, U8 pair, S32 high, S32 count, F32 matrix,
                      S32 orbit, F32 root0, S32 rows0, S32 items0, S32 parts0, S32 tasks0,
                      S32 own0, S32 other0, F32 amount0, S32 slot_begin0, F32 mean0, S32 blocks0,
                      F32 root1, S32 rows1, S32 items1, S32 parts1, S32 tasks1, S32 own1,
                      S32 other1, F32 amount1, S32 slot_begin1, F32 mean1, S32 blocks1,
                      ffi::Result<F32> shared, ffi::Result<F32> up0, ffi::Result<F32> value0,
                      ffi::Result<F32> slots0, ffi::Result<F32> up1, ffi::Result<F32> value1,
                      ffi::Result<F32> slots1, ffi::Result<F32> found, int64_t room0,
                      int64_t room1) {
  auto w = std::make_shared<Measuring>();
  w->hands = root0.dimensions()[1];
  w->boards = {w->hands,           place.typed_data(), pair.typed_data(),
               high.typed_data(),  count.typed_data(), matrix.typed_data()};
  w->numbers = nullptr;
  w->steps = 1;
  w->orbit = orbit.typed_data();
  w->items = items0.dimensions()[0];
  w->shared = shared->dimensions()[0] > 0 ? shared->typed_data() : nullptr;
  w->players[0] = Tables(root0, rows0, items0, parts0, tasks0, own0, other0, amount0, slot_begin0,
                         up0, value0, slots0, room0);
  w->players[1] = Tables(root1, rows1, items1, parts1, tasks1, own1, other1, amount1, slot_begin1,
                         up1, value1, slots1, room1);
  ReadMean(mean0, blocks0, w->players[0]);
  ReadMean(mean1, blocks1, w->players[1]);
  w->last_street = w->players[0].item[w->items - 1].street;
  w->payoffs.tiles = (w->hands + 15) / 16;
  int64_t entries = 0;
  for (const Player& player : w->players) {
    entries += (player.room + player.item[w->items - 1].own_end) * w->hands;
  }
  const int64_t workers = entries < kLeastWork ? 1 : std::max<int64_t>(1, pool.num_threads());
  for (int i = 0; i < 2; ++i) {
    w->payoffs.sums[i].resize(w->items * w->payoffs.tiles);
    Plan<Measure>({w.get(), &w->players[i], &w->players[1 - i], nullptr}, workers);
  }
  w->phases.Run(pool, workers, w);
  for (int i = 0; i < 2; ++i) {
    const std::vector<double>& sums = w->payoffs.sums[i];
    const double now = std::accumulate(sums.begin(), sums.end(), 0.0);
    const Player& player = w->players[i];
    double best = Dot(player.root, player.value_up, w->hands);
    for (int32_t k = player.slot_begin[0]; k < player.slot_begin[1]; ++k) {
      best += Dot(player.root, player.slots + k * w->hands, w->hands);
    }
    found->typed_data()[2 * i] = static_cast<float>(now);
    found->typed_data()[2 * i + 1] = static_cast<float>(best - now);
  }
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveMeasure, MeasureAll,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<S32>()  // place
                                  .Arg<U8>()   // pair
                                  .Arg<S32>()  // high
                                  .Arg<S32>()  // count
                                  .Arg<F32>()  // matrix
                                  .Arg<S32>()  // orbit
                                  .Arg<F32>()  // of player 0: root
                                  .Arg<S32>()  // rows
                                  .Arg<S32>()  // items
                                  .Arg<S32>()  // parts
                                  .Arg<S32>()  // tasks
                                  .Arg<S32>()  // leaf_own
                                  .Arg<S32>()  // leaf_other
                                  .Arg<F32>()  // amount
                                  .Arg<S32>()  // slot_begin
                                  .Arg<F32>()  // mean
                                  .Arg<S32>()  // shapes of blocks
                                  .Arg<F32>()  // of player 1: likewise
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<S32>()
                                  .Arg<F32>()
                                  .Arg<S32>()
                                  .Arg<F32>()
                                  .Arg<S32>()
                                  .Ret<F32>()  // shared
                                  .Ret<F32>()  // of player 0: up
                                  .Ret<F32>()  // value_up
                                  .Ret<F32>()  // slots
                                  .Ret<F32>()  // of player 1: likewise
                                  .Ret<F32>()
                                  .Ret<F32>()
                                  .Ret<F32>()  // [2, 2]: payoff, and what a best response adds
                                  .Attr<int64_t>("room0")
                                  .Attr<int64_t>("room1"));

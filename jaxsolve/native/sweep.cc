// One player's whole step of an iteration of CFR on a hold'em tree: reach, average, leaves, values,
// regrets and next policy in one pass, board by board, so that what a board needs stays in cache.
//
// An item is the rows of one board of one street; parents come before children. Sequences of the
// last street are numbered within their item and live in scratch memory, those of earlier streets
// ("upper"; 0 is the empty sequence) are numbered throughout and live in arrays. A row whose parent
// is in another item writes its value to a slot; the slots of an upper sequence are consecutive.
//
// Down: reaches of both players from their policies, and the average of the own one.
// Leaves: what they pay, added to the values of the sequences.
// Up: children before parents: values of the rows, regrets, next policy.
//
// Where a street has one board, its hands are cut into tiles and its leaves into parts instead, so
// that more than one thread has work.

#include "boards.h"
#include "pool.h"
#include "update.h"

namespace ffi = xla::ffi;

namespace {

using F32 = ffi::Buffer<ffi::F32>;
using S32 = ffi::Buffer<ffi::S32>;
using U8 = ffi::Buffer<ffi::U8>;

constexpr int64_t kTile = 512;            // hands
constexpr int64_t kLeastWork = 1 << 15;  // entries below which threads cost more than they save

struct Row {
  int32_t block, number, width;
  int32_t first;   // sequence of the first action, within the item or among the upper ones
  int32_t parent;  // within the item, or -1 - upper sequence
  int32_t slot;    // where the value goes, -1 for the parent itself
  int32_t orbit_begin, orbit_end;
};

struct Item {
  int32_t street, own_begin, own_end, other_begin, other_end, part_begin, part_end;
  int32_t base, sequences;  // first upper sequence (0 on the last street), how many
};

struct Table {  // the blocks [actions, rows, hands] of a player
  std::vector<float*> data;
  std::vector<int64_t> rows;
  std::vector<int64_t> start;  // first sequence
  float* at(int block, int action, int row, int64_t hands) const {
    return data[block] + (action * rows[block] + row) * hands;
  }
};

struct Job {
  Boards boards;
  int64_t hands, items, last_street;
  Numbers numbers;
  const Row* row;
  const Row* other_row;
  const Item* item;
  const int32_t* part;        // [parts, 2]: first and last task
  const int32_t* task;        // [tasks, 4]
  const int32_t* leaf_own;    // [leaves], within the item, or -1 - upper sequence
  const int32_t* leaf_other;  // [leaves], likewise
  const float* amount;        // [leaves]
  const int32_t* slot_begin;  // [upper + 1]
  const int32_t* orbit;       // [images, hands]
  Table regret, policy, other_policy;
  float *mean, *lost;                            // [sequences, hands]
  float *own_up, *other_up, *value_up, *slots;  // [upper or slots, hands]
  float* shared;         // scratch of the last street if that has one board
  int64_t own_room, other_room;  // most sequences of an item of the last street
  Phases phases;
};

struct Scratch {  // rows of sequences of one item
  float *own, *value, *other;
};

// Memory of a thread; kept, because new pages cost more than the work of a small board.
struct Kept {
  std::unique_ptr<float[]> floats;
  std::unique_ptr<Tiles> tiles;
  int64_t room = 0, hands = -1;
};

thread_local Kept kept;

Tiles& KeptTiles(int64_t hands) {
  if (kept.hands != hands) {
    kept.tiles = std::make_unique<Tiles>(hands);
    kept.hands = hands;
  }
  return *kept.tiles;
}

Scratch ScratchOf(const Job& w, const Item& item) {
  const int64_t n = w.hands;
  if (item.street < w.last_street) return {w.own_up, w.value_up, w.other_up};
  float* from = w.shared;
  if (from == nullptr) {
    const int64_t need = (2 * w.own_room + w.other_room) * n;
    if (kept.room < need) {
      kept.floats.reset(new float[need]);
      kept.room = need;
    }
    from = kept.floats.get();
  }
  return {from, from + w.own_room * n, from + 2 * w.own_room * n};
}

float* Place(float* local, float* upper, int64_t hands, int32_t code) {
  return code >= 0 ? local + code * hands : upper + (-1 - code) * hands;
}

void DownOther(const Job& w, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(w, item);
  const int64_t n = w.hands;
  for (int32_t r = item.other_begin; r < item.other_end; ++r) {
    const Row& row = w.other_row[r];
    const float* above = Place(s.other, w.other_up, n, row.parent) + begin;
    for (int a = 0; a < row.width; ++a) {
      const float* p = w.other_policy.at(row.block, a, row.number, n) + begin;
      Multiply(s.other + (row.first + a) * n + begin, p, above, end - begin);
    }
  }
}

void DownOwn(const Job& w, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(w, item);
  const int64_t n = w.hands;
  for (int32_t r = item.own_begin; r < item.own_end; ++r) {
    const Row& row = w.row[r];
    const float* above = Place(s.own, w.own_up, n, row.parent) + begin;
    for (int a = 0; a < row.width; ++a) {
      float* reach = s.own + (row.first + a) * n + begin;
      Multiply(reach, w.policy.at(row.block, a, row.number, n) + begin, above, end - begin);
      const int64_t sequence =
          w.policy.start[row.block] + a * w.policy.rows[row.block] + row.number;
      Average(w.mean + sequence * n + begin, w.lost + sequence * n + begin, reach, w.numbers.share,
              end - begin);
    }
  }
}

void ClearValues(const Job& w, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(w, item);
  for (int32_t k = 0; k < item.sequences; ++k) {
    float* value = s.value + (item.base + k) * w.hands;
    std::fill(value + begin, value + end, 0.0f);
  }
}

void LeavesOf(const Job& w, const Item& item, int64_t part) {
  const Scratch s = ScratchOf(w, item);
  const int64_t n = w.hands;
  for (int32_t k = w.part[2 * part]; k < w.part[2 * part + 1]; ++k) {
    Pay(
        w.boards, w.task + 4 * k, w.amount,
        [&](int64_t leaf) { return Place(s.other, w.other_up, n, w.leaf_other[leaf]); },
        [&](int64_t leaf) { return Place(s.value, w.value_up, n, w.leaf_own[leaf]); },
        KeptTiles(n));
  }
}

// Adds the values of the rows below on other boards, and takes the mean over symmetric hands.
void Complete(const Job& w, const Row& row, float* value, int64_t begin, int64_t end) {
  const int64_t n = w.hands;
  for (int a = 0; a < row.width; ++a) {
    const int32_t sequence = row.first + a;
    float* q = value + sequence * n;
    for (int32_t k = w.slot_begin[sequence]; k < w.slot_begin[sequence + 1]; ++k) {
      const float* more = w.slots + k * n;
      for (int64_t h = begin; h < end; ++h) q[h] += more[h];
    }
    const int images = row.orbit_end - row.orbit_begin;
    if (images < 2) continue;
    std::vector<float> total(q, q + n);
    for (int g = 1; g < images; ++g) {
      const int32_t* image = w.orbit + (row.orbit_begin + g) * n;
      for (int64_t h = 0; h < n; ++h) total[h] += q[image[h]];
    }
    for (int64_t h = 0; h < n; ++h) q[h] = total[h] / images;
  }
}

void Up(const Job& w, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(w, item);
  const int64_t n = w.hands;
  Actions actions;
  for (int32_t r = item.own_end; r-- > item.own_begin;) {
    const Row& row = w.row[r];
    if (item.street < w.last_street) Complete(w, row, s.value, begin, end);
    actions.width = row.width;
    actions.worth.clear(), actions.policy.clear(), actions.regret.clear();
    for (int a = 0; a < row.width; ++a) {
      actions.worth.push_back(s.value + (row.first + a) * n);
      actions.policy.push_back(w.policy.at(row.block, a, row.number, n));
      actions.regret.push_back(w.regret.at(row.block, a, row.number, n));
    }
    actions.add = row.slot < 0;
    actions.to = actions.add ? Place(s.value, w.value_up, n, row.parent) : w.slots + row.slot * n;
    UpdateRow(w.numbers, actions, begin, end);
  }
}

// Tile `k` of `count`, as (first hand, hand after the last).
std::pair<int64_t, int64_t> Tile(int64_t hands, int64_t k, int64_t count) {
  const int64_t wide = (hands + 16 * count - 1) / (16 * count) * 16;
  return {std::min(hands, k * wide), std::min(hands, (k + 1) * wide)};
}

// How many tiles an item is cut into, so that the arrays of one stay in cache: one where values are
// averaged over symmetric hands.
int64_t TilesOf(const Job& w, const Item& item, int64_t workers) {
  for (int32_t r = item.own_begin; r < item.own_end; ++r) {
    if (w.row[r].orbit_end - w.row[r].orbit_begin > 1) return 1;
  }
  const int64_t fit = (w.hands + kTile - 1) / kTile;
  return workers == 1 ? fit : std::max(fit, std::min(2 * workers, (w.hands + 31) / 32));
}

void Enter(const Job& w, const Item& item, int64_t begin, int64_t end) {
  DownOther(w, item, begin, end);
  if (item.street < w.last_street) DownOwn(w, item, begin, end);
  ClearValues(w, item, begin, end);
}

void Leave(const Job& w, const Item& item, int64_t begin, int64_t end) {
  if (item.street == w.last_street) DownOwn(w, item, begin, end);
  Up(w, item, begin, end);
}

// The way down to the last street and back up again.
void Plan(Job* j, int64_t workers) {
  using Step = void (*)(const Job&, const Item&, int64_t, int64_t);
  std::vector<std::pair<const Item*, int64_t>> streets(j->last_street + 1, {nullptr, 0});
  for (const Item* item = j->item; item < j->item + j->items; ++item) {
    auto& [first, count] = streets[item->street];
    if (count++ == 0) first = item;
  }
  const auto by_tile = [j, workers](const Item* item, Step step) {
    const int64_t count = TilesOf(*j, *item, workers);
    j->phases.Then(count, [j, item, step, count](int64_t k) {
      const auto [begin, end] = Tile(j->hands, k, count);
      step(*j, *item, begin, end);
    });
  };
  for (const auto& [first, count] : streets) {
    if (count == 1) {
      by_tile(first, Enter);
    } else if (first->street < j->last_street) {
      j->phases.Then(count, [j, first = first](int64_t k) { Enter(*j, first[k], 0, j->hands); });
    }
  }
  for (auto street = streets.rbegin(); street != streets.rend(); ++street) {
    const auto& [first, count] = *street;
    if (count == 1) {
      j->phases.Then(first->part_end - first->part_begin, [j, first = first](int64_t k) {
        LeavesOf(*j, *first, first->part_begin + k);
      });
      by_tile(first, Leave);
      continue;
    }
    j->phases.Then(count, [j, first = first](int64_t k) {
      const Item& item = first[k];
      if (item.street == j->last_street) Enter(*j, item, 0, j->hands);
      for (int32_t p = item.part_begin; p < item.part_end; ++p) LeavesOf(*j, item, p);
      const int64_t tiles = TilesOf(*j, item, 1);
      for (int64_t t = 0; t < tiles; ++t) {
        const auto [begin, end] = Tile(j->hands, t, tiles);
        Leave(*j, item, begin, end);
      }
    });
  }
}

void AddBlock(Table& table, int64_t& start, float* data, ffi::Span<const int64_t> shape) {
  table.data.push_back(data);
  table.rows.push_back(shape[1]);
  table.start.push_back(start);
  start += shape[0] * shape[1];
}

ffi::Error Sweep(ffi::ThreadPool pool, S32 place, U8 pair, S32 high, S32 count, F32 matrix,
                 F32 scalars, F32 own_root, F32 other_root, S32 rows, S32 other_rows, S32 items,
                 S32 parts, S32 tasks, S32 leaf_own, S32 leaf_other, F32 amount, S32 slot_begin,
                 S32 orbit, F32, F32, ffi::RemainingArgs blocks, ffi::Result<F32> mean,
                 ffi::Result<F32> lost, ffi::Result<F32> own_up, ffi::Result<F32> other_up,
                 ffi::Result<F32> value_up, ffi::Result<F32> slots, ffi::Result<F32> shared,
                 ffi::RemainingRets updated, int64_t num_blocks, int64_t own_room,
                 int64_t other_room) {
  auto w = std::make_shared<Job>();
  const int64_t hands = own_root.dimensions()[1];
  w->boards = {hands,
               place.typed_data(),
               pair.typed_data(),
               high.typed_data(),
               count.typed_data(),
               matrix.typed_data()};
  w->hands = hands;
  const float* x = scalars.typed_data();
  w->numbers = {x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
  w->row = reinterpret_cast<const Row*>(rows.typed_data());
  w->other_row = reinterpret_cast<const Row*>(other_rows.typed_data());
  w->item = reinterpret_cast<const Item*>(items.typed_data());
  w->items = items.dimensions()[0];
  w->part = parts.typed_data();
  w->task = tasks.typed_data();
  w->leaf_own = leaf_own.typed_data();
  w->leaf_other = leaf_other.typed_data();
  w->amount = amount.typed_data();
  w->slot_begin = slot_begin.typed_data();
  w->orbit = orbit.typed_data();
  w->mean = mean->typed_data();
  w->lost = lost->typed_data();
  w->own_up = own_up->typed_data();
  w->other_up = other_up->typed_data();
  w->value_up = value_up->typed_data();
  w->slots = slots->typed_data();
  w->shared = shared->dimensions()[0] > 0 ? shared->typed_data() : nullptr;
  w->own_room = own_room;
  w->other_room = other_room;
  int64_t at = 1, entries = 0;
  for (int64_t k = 0; k < 2 * num_blocks; ++k) {
    if (k == num_blocks) at = 1;
    auto block = updated.get<F32>(k);
    if (!block.has_value()) return block.error();
    AddBlock(k < num_blocks ? w->regret : w->policy, at, (*block)->typed_data(),
             (*block)->dimensions());
    entries += (*block)->element_count() / 2;
  }
  at = 1;
  for (size_t k = 2 * num_blocks; k < blocks.size(); ++k) {
    auto block = blocks.get<F32>(k);
    if (!block.has_value()) return block.error();
    AddBlock(w->other_policy, at, block->typed_data(), block->dimensions());
  }
  for (int64_t k = 0; k < w->items; ++k) {
    w->last_street = std::max<int64_t>(w->last_street, w->item[k].street);
  }
  std::copy_n(own_root.typed_data(), hands, w->own_up);
  std::copy_n(other_root.typed_data(), hands, w->other_up);
  std::fill_n(w->value_up, hands, 0.0f);
  Average(w->mean, w->lost, w->own_up, w->numbers.share, hands);
  const int64_t workers = entries < kLeastWork ? 1 : std::max<int64_t>(1, pool.num_threads());
  Plan(w.get(), workers);
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
                                  .Arg<F32>()  // scalars
                                  .Arg<F32>()  // own_root
                                  .Arg<F32>()  // other_root
                                  .Arg<S32>()  // rows
                                  .Arg<S32>()  // other_rows
                                  .Arg<S32>()  // items
                                  .Arg<S32>()  // parts
                                  .Arg<S32>()  // tasks
                                  .Arg<S32>()  // leaf_own
                                  .Arg<S32>()  // leaf_other
                                  .Arg<F32>()  // amount
                                  .Arg<S32>()  // slot_begin
                                  .Arg<S32>()  // orbit
                                  .Arg<F32>()  // mean, the same memory as the result
                                  .Arg<F32>()  // lost, likewise
                                  .RemainingArgs()  // regrets, policies (likewise), other's policies
                                  .Ret<F32>()  // mean
                                  .Ret<F32>()  // lost
                                  .Ret<F32>()  // own_up
                                  .Ret<F32>()  // other_up
                                  .Ret<F32>()  // value_up
                                  .Ret<F32>()  // slots
                                  .Ret<F32>()  // shared
                                  .RemainingRets()  // regrets, policies
                                  .Attr<int64_t>("num_blocks")
                                  .Attr<int64_t>("own_room")
                                  .Attr<int64_t>("other_room"));

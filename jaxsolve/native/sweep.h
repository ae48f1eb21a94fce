// What passes over a hold'em tree have in common: its items and rows, and the order of the work.
//
// An item is the rows of one board of one street; parents come before children. Sequences of the
// last street are numbered within their item and live in scratch memory, those of earlier streets
// ("upper"; 0 is the empty sequence) are numbered throughout and live in arrays. A row whose parent
// is in another item writes its value to a slot; the slots of an upper sequence are consecutive.
//
// A pass enters the items of a street after those of the streets before and leaves them in the other
// direction; in between their leaves add what they pay. Where a street has one board, its hands are
// cut into tiles and its leaves into parts, so that more than one thread has work.

#ifndef JAXSOLVE_SWEEP_H_
#define JAXSOLVE_SWEEP_H_

#include <utility>
#include <vector>

#include "boards.h"
#include "pool.h"
#include "update.h"

namespace ffi = xla::ffi;

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

struct Player {
  const float* root;  // [hands]
  const Row* row;
  const Item* item;
  const int32_t* part;        // [parts, 2]: first and last task
  const int32_t* task;        // [tasks, 4]
  const int32_t* leaf_own;    // [leaves], within the item, or -1 - upper sequence
  const int32_t* leaf_other;  // [leaves], likewise
  const float* amount;        // [leaves]
  const int32_t* slot_begin;  // [upper + 1]
  Table regret, policy;
  float *mean, *lost;           // [sequences, hands]
  float *up, *value_up, *slots;  // [upper or slots, hands]: reach, values, values of rows below
  int64_t room;                 // most sequences of an item of the last street
};

struct Job {
  Boards boards;
  int64_t hands, items, last_street, steps;
  const Numbers* numbers;  // [steps]
  const int32_t* orbit;    // [images, hands]
  Player players[2];
  float* shared;  // scratch of the last street if that has one board
  Phases phases;
};

// One player's part of one iteration.
struct Turn {
  Job* job;
  const Player *own, *other;
  const Numbers* numbers;
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

inline thread_local Kept kept;

inline Tiles& KeptTiles(int64_t hands) {
  if (kept.hands != hands) {
    kept.tiles = std::make_unique<Tiles>(hands);
    kept.hands = hands;
  }
  return *kept.tiles;
}

inline Scratch ScratchOf(const Turn& t, const Item& item) {
  const int64_t n = t.job->hands;
  if (item.street < t.job->last_street) return {t.own->up, t.own->value_up, t.other->up};
  float* from = t.job->shared;
  if (from == nullptr) {
    const int64_t need = (2 * t.own->room + t.other->room) * n;
    if (kept.room < need) {
      kept.floats.reset(new float[need]);
      kept.room = need;
    }
    from = kept.floats.get();
  }
  return {from, from + t.own->room * n, from + 2 * t.own->room * n};
}

inline float* Place(float* local, float* upper, int64_t hands, int32_t code) {
  return code >= 0 ? local + code * hands : upper + (-1 - code) * hands;
}

inline void ClearValues(const Turn& t, const Item& item, int64_t begin, int64_t end) {
  const Scratch s = ScratchOf(t, item);
  for (int32_t k = 0; k < item.sequences; ++k) {
    float* value = s.value + (item.base + k) * t.job->hands;
    std::fill(value + begin, value + end, 0.0f);
  }
}

inline void LeavesOf(const Turn& t, const Item& item, int64_t part) {
  const Scratch s = ScratchOf(t, item);
  const int64_t n = t.job->hands;
  const Player& own = *t.own;
  for (int32_t k = own.part[2 * part]; k < own.part[2 * part + 1]; ++k) {
    Pay(
        t.job->boards, own.task + 4 * k, own.amount,
        [&](int64_t leaf) { return Place(s.other, t.other->up, n, own.leaf_other[leaf]); },
        [&](int64_t leaf) { return Place(s.value, own.value_up, n, own.leaf_own[leaf]); },
        KeptTiles(n));
  }
}

// Adds the values of the rows below on other boards, and takes the mean over symmetric hands.
inline void Complete(const Turn& t, const Row& row, float* value, int64_t begin, int64_t end) {
  const int64_t n = t.job->hands;
  const int32_t* slot_begin = t.own->slot_begin;
  for (int a = 0; a < row.width; ++a) {
    const int32_t sequence = row.first + a;
    float* q = value + sequence * n;
    for (int32_t k = slot_begin[sequence]; k < slot_begin[sequence + 1]; ++k) {
      const float* more = t.own->slots + k * n;
      for (int64_t h = begin; h < end; ++h) q[h] += more[h];
    }
    const int images = row.orbit_end - row.orbit_begin;
    if (images < 2) continue;
    std::vector<float> total(q, q + n);
    for (int g = 1; g < images; ++g) {
      const int32_t* image = t.job->orbit + (row.orbit_begin + g) * n;
      for (int64_t h = 0; h < n; ++h) total[h] += q[image[h]];
    }
    for (int64_t h = 0; h < n; ++h) q[h] = total[h] / images;
  }
}

// Tile `k` of `count`, as (first hand, hand after the last).
inline std::pair<int64_t, int64_t> Tile(int64_t hands, int64_t k, int64_t count) {
  const int64_t wide = (hands + 16 * count - 1) / (16 * count) * 16;
  return {std::min(hands, k * wide), std::min(hands, (k + 1) * wide)};
}

// How many tiles an item is cut into, so that the arrays of one stay in cache: one where values are
// averaged over symmetric hands.
inline int64_t TilesOf(const Turn& t, const Item& item, int64_t workers) {
  for (int32_t r = item.own_begin; r < item.own_end; ++r) {
    if (t.own->row[r].orbit_end - t.own->row[r].orbit_begin > 1) return 1;
  }
  const int64_t hands = t.job->hands, fit = (hands + kTile - 1) / kTile;
  return workers == 1 ? fit : std::max(fit, std::min(2 * workers, (hands + 31) / 32));
}

// The way down to the last street and back up again. `Steps` has Begin, for the empty sequences, and
// Enter and Leave, for some hands of an item.
template <class Steps>
void Plan(const Turn& t, int64_t workers) {
  using Step = void (*)(const Turn&, const Item&, int64_t, int64_t);
  Phases& phases = t.job->phases;
  const int64_t hands = t.job->hands, last_street = t.job->last_street;
  std::vector<std::pair<const Item*, int64_t>> streets(last_street + 1, {nullptr, 0});
  for (int64_t k = 0; k < t.job->items; ++k) {
    auto& [first, count] = streets[t.own->item[k].street];
    if (count++ == 0) first = t.own->item + k;
  }
  const auto by_tile = [&](const Item* item, Step step) {
    const int64_t count = TilesOf(t, *item, workers);
    phases.Then(count, [t, item, step, count, hands](int64_t k) {
      const auto [begin, end] = Tile(hands, k, count);
      step(t, *item, begin, end);
    });
  };
  phases.Then(1, [t](int64_t) { Steps::Begin(t); });
  for (const auto& [first, count] : streets) {
    if (count == 1) {
      by_tile(first, Steps::Enter);
    } else if (first->street < last_street) {
      phases.Then(count, [t, first = first, hands](int64_t k) { Steps::Enter(t, first[k], 0, hands); });
    }
  }
  for (auto street = streets.rbegin(); street != streets.rend(); ++street) {
    const auto& [first, count] = *street;
    if (count == 1) {
      phases.Then(first->part_end - first->part_begin, [t, first = first](int64_t k) {
        LeavesOf(t, *first, first->part_begin + k);
      });
      by_tile(first, Steps::Leave);
      continue;
    }
    phases.Then(count, [t, first = first, hands](int64_t k) {
      const Item& item = first[k];
      if (item.street == t.job->last_street) Steps::Enter(t, item, 0, hands);
      for (int32_t p = item.part_begin; p < item.part_end; ++p) LeavesOf(t, item, p);
      const int64_t tiles = TilesOf(t, item, 1);
      for (int64_t k = 0; k < tiles; ++k) {
        const auto [begin, end] = Tile(hands, k, tiles);
        Steps::Leave(t, item, begin, end);
      }
    });
  }
}

inline Player Tables(F32 root, S32 rows, S32 items, S32 parts, S32 tasks, S32 leaf_own, S32 leaf_other,
              F32 amount, S32 slot_begin, ffi::Result<F32> up, ffi::Result<F32> value_up,
              ffi::Result<F32> slots, int64_t room) {
  Player player;
  player.root = root.typed_data();
  player.row = reinterpret_cast<const Row*>(rows.typed_data());
  player.item = reinterpret_cast<const Item*>(items.typed_data());
  player.part = parts.typed_data();
  player.task = tasks.typed_data();
  player.leaf_own = leaf_own.typed_data();
  player.leaf_other = leaf_other.typed_data();
  player.amount = amount.typed_data();
  player.slot_begin = slot_begin.typed_data();
  player.up = up->typed_data();
  player.value_up = value_up->typed_data();
  player.slots = slots->typed_data();
  player.room = room;
  return player;
}

#endif  // JAXSOLVE_SWEEP_H_

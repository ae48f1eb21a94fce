// The way through a spot: down the boards of each street and back up, for one player.
//
// Boards of a street are worked on one after the other, each with all that follows it, so that what
// one thread holds is a path of boards; boards of the second street are shared out among threads in
// groups, whose results are added in order, so that they do not depend on the number of threads. The
// betting of the last street is cut into parts that stay in a core's cache.
//
// `SpotSteps` says what is done at a row.

#ifndef JAXSOLVE_SPOT_PASS_H_
#define JAXSOLVE_SPOT_PASS_H_

#include <algorithm>
#include <memory>
#include <vector>

#include "spot_leaves.h"
#include "spot_rows.h"
#include "workers.h"

constexpr int64_t kGroups = 32;     // of boards of the second street
constexpr int64_t kAllInHands = 96;  // of a task

// Rows [hands] of the sequences of a street, or of a part of the last one.
struct SpotLevel {
  int64_t own_first = 0, other_first = 0, own_hands = 0, other_hands = 0;
  float *own_row = nullptr, *other_row = nullptr, *value_row = nullptr, *more_row = nullptr;
  std::vector<float> memory;

  void Make(int64_t rows, int64_t hands) {
    memory.resize(4 * rows * hands);
    own_row = memory.data();
    value_row = own_row + rows * hands;
    more_row = value_row + rows * hands;
    other_row = more_row + rows * hands;
  }
  float* own(int64_t sequence) const { return own_row + (sequence - own_first) * own_hands; }
  float* value(int64_t sequence) const { return value_row + (sequence - own_first) * own_hands; }
  float* more(int64_t sequence) const { return more_row + (sequence - own_first) * own_hands; }
  float* other(int64_t sequence) const { return other_row + (sequence - other_first) * other_hands; }
};

// Rows of the sequences before a street that go on there, entry by entry.
struct SpotAbove {
  std::vector<const float*> own, other;
  std::vector<float*> value, more;
};

// What a thread works in.
struct SpotThread {
  explicit SpotThread(int64_t all) : tiles(all) {}
  SpotTiles tiles;
  SpotLevel level[kSpotStreets];
  SpotAbove above[kSpotStreets];
  std::vector<float> room[2];  // sums over symmetric hands; rows that are converted
};

// A street, one of its boards, and the part that is worked on.
struct SpotPlace {
  const SpotStreet* street;
  int number;
  int64_t board;
  const SpotLevel* level;
  const SpotAbove* above;
  SpotThread* thread;

  int64_t state(int player, int64_t offset, int64_t sequence) const {
    return offset + board * street->sequences[player] + sequence;
  }
};

// What is done at the rows of either player.
class SpotSteps {
 public:
  virtual ~SpotSteps() = default;
  virtual void Other(const SpotPlace& place, int32_t number) = 0;  // reach of the other player
  virtual void Down(const SpotPlace& place, int32_t number) = 0;   // reach of the own one
  virtual void Up(const SpotPlace& place, int32_t number) = 0;     // values to the sequence above
};

// Memory of passes over one spot, used again by the next one.
struct SpotMemory {
  SpotMemory(const SpotGame& game, int threads) {
    const int64_t most = std::max(game.hands[0], game.hands[1]);
    const SpotStreet& first = game.street[0];
    top.Make(std::max(first.sequences[0], first.sequences[1]), most);
    if (game.streets > 1) {
      groups = std::min(kGroups, game.street[1].boards);
      slots.resize(2 * groups * std::max(game.street[1].entries[0], game.street[1].entries[1]) * most);
    }
    for (int k = 0; k < threads; ++k) {
      thread.push_back(std::make_unique<SpotThread>(game.all));
      for (int s = 1; s < game.streets; ++s) {
        int64_t rows = 0;
        for (int64_t p = 0; p < game.street[s].parts; ++p) {
          const SpotPart& part = game.street[s].part[p];
          for (int i = 0; i < 2; ++i) {
            rows = std::max<int64_t>(rows, part.sequence_end[i] - part.sequence_begin[i]);
          }
        }
        thread[k]->level[s].Make(rows, most);
      }
      for (std::vector<float>& room : thread[k]->room) room.resize(kMostActions * most);
    }
    root.resize(2 * most);
  }

  SpotLevel top;
  std::vector<std::unique_ptr<SpotThread>> thread;
  int64_t groups = 0;
  std::vector<float> slots, root;
};

class SpotPass {
 public:
  // `twice`: values are counted in two ways, which begin with what leaves pay.
  SpotPass(const SpotGame& game, int player, SpotSteps& steps, Workers& workers, SpotMemory& memory,
           bool twice)
      : game_(game), own_(player), other_(1 - player), steps_(steps), workers_(workers),
        memory_(memory), twice_(twice), top_(memory.top), groups_(memory.groups) {
    Turn(top_);
    for (auto& thread : memory.thread) {
      for (int s = 1; s < game.streets; ++s) Turn(thread->level[s]);
    }
  }

  // Does everything; afterwards `root` and `root_more` have what the sequences add up to.
  void Run() {
    std::fill(memory_.root.begin(), memory_.root.end(), 0.0f);
    SpotAbove above = {{game_.root[own_]}, {game_.root[other_]}, {memory_.root.data()}, {root_more()}};
    const SpotStreet& street = game_.street[0];
    const SpotPart& part = street.part[0];
    const SpotPlace place = {&street, 0, 0, &top_, &above, memory_.thread[0].get()};
    if (game_.streets == 1) {
      for (int64_t k = 0; k < street.parts; ++k) Whole(place, street.part[k]);
      return;
    }
    Enter(place, part);
    std::fill(memory_.slots.begin(), memory_.slots.end(), 0.0f);
    const int64_t tiles = AllInTasks(part);
    workers_.Run(groups_ + tiles, [&](int thread, int64_t task) {
      SpotThread& mine = *memory_.thread[thread];
      if (task < groups_) return Group(mine, task);
      const int64_t hands = game_.hands[own_], begin = (task - groups_) * kAllInHands;
      AllIns(place, part, mine, begin, std::min(hands, begin + kAllInHands));
    });
    Leaves(place, part, kFold);
    Spread(place, part);
    AddGroups();
    Ups(place, part);
  }

  // Does what is needed for the values of one board of a later street.
  void RunBoard(int street, int64_t board) {
    std::vector<int64_t> path(street + 1, board);
    for (int s = street; s > 0; --s) path[s - 1] = game_.street[s].parent[path[s]];
    SpotThread& thread = *memory_.thread[0];
    std::fill(memory_.root.begin(), memory_.root.end(), 0.0f);
    SpotAbove above = {{game_.root[own_]}, {game_.root[other_]}, {memory_.root.data()}, {root_more()}};
    Enter({&game_.street[0], 0, 0, &top_, &above, &thread}, game_.street[0].part[0]);
    for (int s = 1; s <= street; ++s) {
      Link(thread, s, s == 1 ? top_ : thread.level[s - 1]);
      if (s == street) return Board(thread, s, board);
      const SpotStreet& here = game_.street[s];
      Enter({&here, s, path[s], &thread.level[s], &thread.above[s], &thread}, here.part[0]);
    }
  }

  const float* root() const { return memory_.root.data(); }
  float* root_more() { return memory_.root.data() + game_.hands[own_]; }

 private:
  void Turn(SpotLevel& level) const {
    level.own_hands = game_.hands[own_], level.other_hands = game_.hands[other_];
    level.own_first = level.other_first = 0;
  }

  void Group(SpotThread& thread, int64_t group) {
    const SpotStreet& street = game_.street[1];
    Link(thread, 1, top_);
    SpotAbove& above = thread.above[1];
    for (int64_t e = 0; e < street.entries[own_]; ++e) {
      above.value[e] = Slot(group, e, 0);
      above.more[e] = Slot(group, e, 1);
    }
    const int64_t begin = street.boards * group / groups_, end = street.boards * (group + 1) / groups_;
    for (int64_t board = begin; board < end; ++board) Board(thread, 1, board);
  }

  float* Slot(int64_t group, int64_t entry, int which) {
    const int64_t entries = game_.street[1].entries[own_];
    return memory_.slots.data() + ((which * groups_ + group) * entries + entry) * game_.hands[own_];
  }

  // Points to the rows above a street.
  void Link(SpotThread& thread, int s, const SpotLevel& before) const {
    const SpotStreet& street = game_.street[s];
    SpotAbove& above = thread.above[s];
    above.own.clear(), above.other.clear(), above.value.clear(), above.more.clear();
    for (int64_t e = 0; e < street.entries[own_]; ++e) {
      const int32_t sequence = street.entry[own_][e];
      above.own.push_back(before.own(sequence));
      above.value.push_back(before.value(sequence));
      above.more.push_back(before.more(sequence));
    }
    for (int64_t e = 0; e < street.entries[other_]; ++e) {
      above.other.push_back(before.other(street.entry[other_][e]));
    }
  }

  __attribute__((noinline)) void Board(SpotThread& thread, int s, int64_t board) {
    const SpotStreet& street = game_.street[s];
    SpotLevel& level = thread.level[s];
    const SpotPlace place = {&street, s, board, &level, &thread.above[s], &thread};
    if (s + 1 == game_.streets) {
      for (int64_t k = 0; k < street.parts; ++k) {
        level.own_first = street.part[k].sequence_begin[own_];
        level.other_first = street.part[k].sequence_begin[other_];
        Whole(place, street.part[k]);
      }
      return;
    }
    const SpotPart& part = street.part[0];
    Enter(place, part);
    for (int kind : {kFold, kAllIn}) Leaves(place, part, kind);
    Spread(place, part);
    Link(thread, s + 1, level);
    for (int64_t k = street.child[board]; k < street.child[board + 1]; ++k) Board(thread, s + 1, k);
    Ups(place, part);
  }

  // A part of the last street.
  void Whole(const SpotPlace& place, const SpotPart& part) {
    Others(place, part);
    Clear(place, part);
    for (int kind : {kFold, kShowdown}) Leaves(place, part, kind);
    Spread(place, part);
    Downs(place, part);
    Ups(place, part);
  }

  void Enter(const SpotPlace& place, const SpotPart& part) {
    Others(place, part);
    Downs(place, part);
    Clear(place, part);
  }

  void Others(const SpotPlace& place, const SpotPart& part) {
    for (int32_t r = part.row_begin[other_]; r < part.row_end[other_]; ++r) steps_.Other(place, r);
  }

  void Downs(const SpotPlace& place, const SpotPart& part) {
    for (int32_t r = part.row_begin[own_]; r < part.row_end[own_]; ++r) steps_.Down(place, r);
  }

  void Ups(const SpotPlace& place, const SpotPart& part) {
    for (int32_t r = part.row_end[own_]; r-- > part.row_begin[own_];) {
      Symmetric(place, place.street->row[own_][r]);
      steps_.Up(place, r);
    }
  }

  int64_t Floats(const SpotPart& part) const {
    return (part.sequence_end[own_] - part.sequence_begin[own_]) * game_.hands[own_];
  }

  void Clear(const SpotPlace& place, const SpotPart& part) {
    std::fill_n(place.level->value(part.sequence_begin[own_]), Floats(part), 0.0f);
  }

  // The second set of values begins with what leaves pay.
  void Spread(const SpotPlace& place, const SpotPart& part) {
    if (!twice_) return;
    const int64_t first = part.sequence_begin[own_];
    std::copy_n(place.level->value(first), Floats(part), place.level->more(first));
    // Leaves of the empty sequence; betting with such leaves is not cut.
    if (place.number == 0 && place.street->parts == 1) {
      std::copy_n(memory_.root.data(), game_.hands[own_], root_more());
    }
  }

  void Pay(const SpotPlace& place, const SpotPart& part, int kind, SpotThread& thread, int64_t begin,
           int64_t end) {
    SpotPay(
        game_, *place.street, place.board, own_, kind, part.leaf_begin[kind], part.leaf_end[kind],
        [&](int32_t k) { return k < 0 ? game_.root[other_] : place.level->other(k); },
        [&](int32_t k) { return k < 0 ? memory_.root.data() : place.level->value(k); }, thread.tiles, begin,
        end);
  }

  void Leaves(const SpotPlace& place, const SpotPart& part, int kind) {
    Pay(place, part, kind, *place.thread, 0, -1);
  }

  void AllIns(const SpotPlace& place, const SpotPart& part, SpotThread& thread, int64_t begin,
              int64_t end) {
    Pay(place, part, kAllIn, thread, begin, end);
  }

  int64_t AllInTasks(const SpotPart& part) const {
    const bool none = part.leaf_begin[kAllIn] == part.leaf_end[kAllIn];
    return none ? 0 : (game_.hands[own_] + kAllInHands - 1) / kAllInHands;
  }

  void AddGroups() {
    const SpotStreet& street = game_.street[1];
    const int64_t hands = game_.hands[own_];
    for (int which = 0; which < (twice_ ? 2 : 1); ++which) {
      for (int64_t e = 0; e < street.entries[own_]; ++e) {
        const int32_t sequence = street.entry[own_][e];
        float* to = which == 0 ? top_.value(sequence) : top_.more(sequence);
        for (int64_t g = 0; g < groups_; ++g) {
          const float* from = Slot(g, e, which);
          for (int64_t h = 0; h < hands; ++h) to[h] += from[h];
        }
      }
    }
  }

  // Values are means over symmetric hands where equal boards were put together.
  void Symmetric(const SpotPlace& place, const SpotRow& row) {
    const int32_t begin = place.street->image_begin[place.board];
    const int32_t end = place.street->image_begin[place.board + 1];
    if (end - begin < 2) return;
    const int64_t hands = game_.hands[own_];
    std::vector<float>& total = place.thread->room[0];
    for (int k = 0; k < (twice_ ? 2 : 1) * row.width; ++k) {
      float* q = k < row.width ? place.level->value(row.first + k)
                               : place.level->more(row.first + k - row.width);
      std::fill_n(total.begin(), hands, 0.0f);
      for (int32_t g = begin; g < end; ++g) {
        const int32_t* image = game_.image[own_] + g * hands;
        for (int64_t h = 0; h < hands; ++h) total[h] += q[image[h]];
      }
      for (int64_t h = 0; h < hands; ++h) q[h] = total[h] / (end - begin);
    }
  }

  const SpotGame& game_;
  const int own_, other_;
  SpotSteps& steps_;
  Workers& workers_;
  SpotMemory& memory_;
  const bool twice_;
  SpotLevel& top_;
  const int64_t groups_;
};

#endif  // JAXSOLVE_SPOT_PASS_H_

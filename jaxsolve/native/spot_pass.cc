// The way through a spot, see `spot_pass.h`.

#include "spot_pass.h"

namespace {

constexpr int64_t kAllInHands = 96;  // of a task

class Pass {
 public:
  Pass(const SpotGame& game, int player, SpotSteps& steps, Workers& workers, SpotMemory& memory,
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

 private:
  float* root_more() { return memory_.root.data() + game_.hands[own_]; }

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
    const SpotLevel& level = *place.level;
    // The root's reach is only read.
    const SpotSequences reach = {level.other_row, const_cast<float*>(game_.root[other_]), level.other_first,
                                 level.other_hands};
    const SpotSequences value = {level.value_row, memory_.root.data(), level.own_first, level.own_hands};
    SpotPay(game_, *place.street, place.board, own_, kind, part.leaf_begin[kind], part.leaf_end[kind],
            reach, value, thread.tiles, begin, end);
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

}  // namespace

void SpotPass(const SpotGame& game, int player, SpotSteps& steps, Workers& workers, SpotMemory& memory,
              bool twice) {
  Pass(game, player, steps, workers, memory, twice).Run();
}

void SpotPassTo(const SpotGame& game, int player, SpotSteps& steps, Workers& workers,
                SpotMemory& memory, int street, int64_t board) {
  Pass(game, player, steps, workers, memory, true).RunBoard(street, board);
}

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

// Goes through the whole spot for one player. Afterwards `memory.root` has what the sequences of the
// root add up to, [hands] of this player. `twice`: values are counted in two ways, which begin with
// what leaves pay, and the second sums follow the first.
void SpotPass(const SpotGame& game, int player, SpotSteps& steps, Workers& workers, SpotMemory& memory,
              bool twice);

// Does what is needed for the values of one board of a later street, in both ways.
void SpotPassTo(const SpotGame& game, int player, SpotSteps& steps, Workers& workers,
                SpotMemory& memory, int street, int64_t board);

#endif  // JAXSOLVE_SPOT_PASS_H_

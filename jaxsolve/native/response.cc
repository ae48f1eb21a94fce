// The best response to a strategy of hold'em below one flop; `_sampled_response.py` is the same plainly.
//
// The reach of all hands of the other player goes down the public actions, street by street; what the
// hands of the responder win comes back up, summed over the next cards and the runouts, and at a
// decision of the responder each hand takes its best action. Rows hold 1,326 floats. A node of the
// other player needs no values of its own: its children add theirs to the row of the action above.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "action_tree.h"
#include "board_hands.h"
#include "buckets.h"
#include "leaf_lists.h"

namespace {

constexpr int kUnseen = 44;  // rivers that meet neither the turn's board nor two hands

struct Item {
  int32_t node;
  const float* reach;
  float* value;
  int32_t below;  // place of the first child in the list
};

// Boards of one flop: first its turns, then the rivers of each turn.
struct Sample {
  const uint8_t* cards;  // [turns, 1 + rivers, 5]; the first row of a turn ends with any river
  Boards boards;         // rows [turns] and [turns, rivers]
  int32_t turns, rivers;
};

class Responder {
 public:
  Responder(const Game& game, const Buckets& buckets, const float* sums, const int32_t* num_buckets,
            const Sample& sample, int seat)
      : game_(game), buckets_(buckets), sums_(sums), num_buckets_(num_buckets), sample_(sample),
        seat_(seat), tiles_(kHands) {
    for (Rows& rows : rows_) rows.Reset(kHands);
  }

  // Fills what the responder wins at nodes where the flop comes, or that ended before it.
  void Run(int32_t count, const int32_t* node, const float* reach, float* value) {
    list_[1].clear();
    for (int32_t k = 0; k < count; ++k) {
      list_[1].push_back({node[k], reach + int64_t{kHands} * k, value + int64_t{kHands} * k, 0});
    }
    Play(1, 0, 0);
  }

 private:
  // Plays a street, on a turn from the second on and on a river on the last.
  void Play(int s, int turn, int river) {
    std::vector<Item>& list = list_[s];
    std::vector<int32_t>& next = next_[s];
    const size_t mark = rows_[s].used();
    const Buckets::Row bucket =
        buckets_.At(s, sample_.cards + 5 * (turn * (1 + sample_.rivers) + (s == 3 ? 1 + river : 0)));
    next.clear();
    for (size_t i = 0; i < list.size(); ++i) {
      const Node& node = game_.nodes[list[i].node];
      if (node.count == 0) {
        End(node, list[i]);
      } else if (node.stage != s) {
        next.push_back(static_cast<int32_t>(i));
      } else {
        Expand(s, node, i, bucket);
      }
    }
    PayAll(s, turn, river);
    const size_t together = s == 2 ? next.size() : 1;
    for (size_t i = 0; i < next.size(); i += together) {
      const int boards = s == 1 ? sample_.turns : sample_.rivers;
      for (int k = 0; k < boards; ++k) {
        Below(s, s == 1 ? k : turn, s == 1 ? 0 : k, i, std::min(i + together, next.size()));
      }
    }
    for (size_t i = list.size(); i-- > 0;) {
      const Node& node = game_.nodes[list[i].node];
      if (node.count == 0 || node.stage != s || node.actor != seat_) continue;
      for (int h = 0; h < kHands; ++h) {
        float best = list[list[i].below].value[h];
        for (int a = 1; a < node.count; ++a) {
          best = std::max(best, list[list[i].below + a].value[h]);
        }
        list[i].value[h] += best;
      }
    }
    rows_[s].Release(mark);
  }

  void End(const Node& node, const Item& item) {
    const int32_t* spent = game_.spent + 2 * node.end;
    const uint8_t* folded = game_.folded + 2 * node.end;
    if (folded[0] || folded[1]) {
      folds_.Add(folded[seat_] ? -spent[seat_] : spent[1 - seat_], item.reach, item.value);
    } else {
      showdowns_.Add(std::min(spent[0], spent[1]), item.reach, item.value);
    }
  }

  // Every end pays on all the runouts of its board.
  void PayAll(int s, int turn, int river) {
    const int first = s == 1 ? 0 : turn, last = s == 1 ? sample_.turns : turn + 1;
    if (s < 3) for (float& x : folds_.amount) x *= kUnseen;
    for (int t = first; t < last; ++t) {
      const int rivers = sample_.turns + t * sample_.rivers;
      if (s < 3) folds_.Pay(kFold, sample_.boards, t, tiles_);
      if (s == 3) folds_.Pay(kFold, sample_.boards, rivers + river, tiles_);
      for (int r = 0; r < sample_.rivers; ++r) {
        if (s < 3 || r == river) showdowns_.Pay(kShowdown, sample_.boards, rivers + r, tiles_);
      }
    }
    folds_.Clear();
    showdowns_.Clear();
  }

  // Plays the next street on one board below some nodes of a street.
  void Below(int s, int turn, int river, size_t from, size_t to) {
    const int64_t board = s == 1 ? turn : sample_.turns + turn * sample_.rivers + river;
    const int32_t* place = sample_.boards.place + board * kHands;
    const size_t mark = rows_[s + 1].used();
    std::vector<Item>& list = list_[s + 1];
    list.clear();
    const float *known = nullptr, *masked = nullptr;
    for (size_t i = from; i < to; ++i) {
      const Item& item = list_[s][next_[s][i]];
      if (item.reach != known) {
        known = item.reach;
        float* row = rows_[s + 1].New();
        for (int h = 0; h < kHands; ++h) row[h] = place[h] < kHands ? known[h] : 0;
        masked = row;
      }
      list.push_back({item.node, masked, rows_[s + 1].NewZero(), 0});
    }
    Play(s + 1, turn, river);
    for (size_t i = from; i < to; ++i) {
      float* value = list_[s][next_[s][i]].value;
      const float* row = list[i - from].value;
      for (int h = 0; h < kHands; ++h) value[h] += place[h] < kHands ? row[h] : 0;
    }
    rows_[s + 1].Release(mark);
  }

  void Expand(int s, const Node& node, size_t i, Buckets::Row bucket) {
    const int count = node.count;
    const Item item = list_[s][i];
    list_[s][i].below = static_cast<int32_t>(list_[s].size());
    if (node.actor == seat_) {
      for (int a = 0; a < count; ++a) {
        list_[s].push_back({node.child + a, item.reach, rows_[s].NewZero(), 0});
      }
      return;
    }
    const int buckets = num_buckets_[s];
    share_.resize(static_cast<size_t>(buckets) * count);
    for (int b = 0; b < buckets; ++b) {
      Match<Full>(sums_ + node.row + static_cast<int64_t>(b) * count, count, &share_[b * count]);
    }
    for (int h = 0; h < kHands; ++h) at_[h] = item.reach[h] > 0 ? bucket[h] * count : 0;
    for (int a = 0; a < count; ++a) {
      float* row = rows_[s].New();
      float most = 0;
      for (int h = 0; h < kHands; ++h) {
        row[h] = item.reach[h] * share_[at_[h] + a];
        most = std::max(most, row[h]);
      }
      if (most > 0) list_[s].push_back({node.child + a, row, item.value, 0});
    }
  }

  const Game& game_;
  const Buckets& buckets_;
  const float* sums_;
  const int32_t* num_buckets_;
  const Sample& sample_;
  const int seat_;
  Tiles tiles_;
  Rows rows_[kStreets];
  std::vector<Item> list_[kStreets];
  std::vector<int32_t> next_[kStreets];
  std::vector<float> share_;
  int32_t at_[kHands];
  LeafList folds_, showdowns_;
};

}  // namespace

extern "C" {

// Adds what `seat` wins to value [count, 1326], from nodes with the other's reach [count, 1326].
void JaxsolveResponse(const Game* game, const Buckets* buckets, const float* sums,
                      const int32_t* num_buckets, int32_t seat, int32_t turns, int32_t rivers,
                      const uint8_t* cards, const int32_t* place, const uint8_t* pair,
                      const int32_t* high, const int32_t* live, int32_t count, const int32_t* node,
                      const float* reach, float* value) {
  const Sample sample{cards, {kHands, place, pair, high, live, nullptr}, turns, rivers};
  Responder(*game, *buckets, sums, num_buckets, sample, seat).Run(count, node, reach, value);
}

}  // extern "C"

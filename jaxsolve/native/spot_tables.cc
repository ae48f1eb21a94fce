// Tables of boards for spots: hands in order of strength, and what all-ins win.

#include <numeric>

#include "spot_game.h"
#include "strength.h"
#include "workers.h"

namespace {

bool Meets(const uint8_t* hand, const uint8_t* board, int cards) {
  for (int i = 0; i < cards; ++i) {
    if (board[i] == hand[0] || board[i] == hand[1]) return true;
  }
  return false;
}

// Copies of a board that were put together, for each board of the last street below one.
struct Below {
  std::vector<int64_t> board;
  std::vector<int16_t> copies;
};

void Collect(const SpotGame& game, const int32_t* const* copies, int street, int64_t board, int times,
             Below& out) {
  if (street + 1 == game.streets) {
    out.board.push_back(board);
    out.copies.push_back(static_cast<int16_t>(times));
    return;
  }
  const SpotStreet& here = game.street[street];
  for (int64_t k = here.child[board]; k < here.child[board + 1]; ++k) {
    Collect(game, copies, street + 1, k, times * copies[street + 1][k], out);
  }
}

}  // namespace

extern "C" {

// Fills the tables of one board. `hand`: [all, 2], cards of all hands; `member`: [2, all], number of
// each hand in the list of either player, or -1. Where there are `showdowns`, hands of equal strength are a
// tie group; elsewhere each hand is one.
void JaxsolveSpotBoard(const uint8_t* board, int32_t cards, int32_t showdowns, const uint8_t* hand, int64_t all,
                       const int32_t* member, const int64_t* hands, int32_t* place0, int32_t* place1,
                       int32_t* gap0, int32_t* gap1, uint8_t* pair, int32_t* high, int32_t* count) {
  std::vector<uint64_t> key;
  Suits common;
  for (int i = 0; i < cards; ++i) common.Add(board[i]);
  for (int64_t h = 0; h < all; ++h) {
    if (Meets(hand + 2 * h, board, cards)) continue;
    Suits held = common;
    held.Add(hand[2 * h]), held.Add(hand[2 * h + 1]);
    key.push_back((showdowns ? static_cast<uint64_t>(Strength(held, cards + 2)) : h) << 11 | h);
  }
  std::sort(key.begin(), key.end());
  const int64_t n = key.size();
  *count = static_cast<int32_t>(n);
  std::fill_n(pair, 2 * all, 0);
  std::fill_n(high, all, static_cast<int32_t>(n));
  std::vector<int32_t> place(all, static_cast<int32_t>(all));
  for (int64_t k = n - 1; k >= 0; --k) {
    const int64_t h = key[k] & 2047;
    place[h] = static_cast<int32_t>(k);
    pair[2 * k] = hand[2 * h], pair[2 * k + 1] = hand[2 * h + 1];
    high[k] = static_cast<int32_t>(k + 1 < n && key[k] >> 11 == key[k + 1] >> 11 ? high[k + 1] : k + 1);
  }
  int32_t* places[2] = {place0, place1};
  int32_t* gaps[2] = {gap0, gap1};
  for (int i = 0; i < 2; ++i) {
    int64_t gap = 0;
    for (int64_t h = 0; h < all; ++h) {
      const int32_t number = member[i * all + h];
      if (number >= 0) places[i][number] = place[h];
      else gaps[i][gap++] = place[h];
    }
  }
}

// Fills the matrices of a street: how often a hand of player 0 wins against one of player 1, minus how
// often it loses, over all cards to come; 0 for hands that share a card. Where equal boards were put
// together, counts are means over `orbit` [symmetries, all] from image_begin of the board on.
void JaxsolveSpotMatrix(const SpotGame* game, int32_t street, const int32_t* const* copies,
                        const uint8_t* hand, const int32_t* const* union_of, const int32_t* orbit,
                        int32_t threads, int16_t* matrix) {
  const int last = static_cast<int>(game->streets) - 1;
  const SpotStreet &here = game->street[street], &end = game->street[last];
  const int64_t all = game->all;
  // Tie groups of all hands on the last boards, 0 for those that meet the board.
  std::vector<int16_t> group(end.boards * all);
  for (int64_t b = 0; b < end.boards; ++b) {
    for (int i = 0; i < 2; ++i) {
      for (int64_t k = 0; k < game->hands[i]; ++k) {
        const int32_t place = end.place[i][b * game->hands[i] + k];
        const bool live = place < all;
        group[b * all + union_of[i][k]] =
            live ? static_cast<int16_t>(end.high[b * all + place]) : static_cast<int16_t>(0);
      }
    }
  }
  Workers workers(threads);
  std::vector<int16_t> sum(all * all);
  constexpr int64_t kRows = 16;
  const int64_t tall = game->hands[0], wide = game->hands[1];
  for (int64_t b = 0; b < here.boards; ++b) {
    Below below;
    Collect(*game, copies, street, b, 1, below);
    std::vector<int32_t> images;
    for (int32_t g = here.image_begin[b]; g < here.image_begin[b + 1]; ++g) images.push_back(g);
    std::fill(sum.begin(), sum.end(), 0);
    workers.Run((all + kRows - 1) / kRows, [&](int, int64_t task) {
      for (int64_t i = task * kRows; i < std::min(all, (task + 1) * kRows); ++i) {
        int16_t* __restrict to = sum.data() + i * all;
        for (size_t c = 0; c < below.board.size(); ++c) {
          const int16_t *rank = group.data() + below.board[c] * all, mine = rank[i];
          if (mine == 0) continue;
          const int16_t times = below.copies[c];
          for (int64_t j = 0; j < all; ++j) {
            const int16_t live = -(rank[j] != 0), more = -(mine > rank[j]), less = -(mine < rank[j]);
            to[j] += times & live & more;
            to[j] -= times & live & less;
          }
        }
      }
    });
    workers.Run((tall + kRows - 1) / kRows, [&](int, int64_t task) {
      for (int64_t i = task * kRows; i < std::min(tall, (task + 1) * kRows); ++i) {
        const int32_t me = union_of[0][i];
        for (int64_t j = 0; j < wide; ++j) {
          const int32_t they = union_of[1][j];
          int32_t total = images.empty() ? sum[me * all + they] : 0;
          for (int32_t g : images) total += sum[orbit[g * all + me] * all + orbit[g * all + they]];
          const uint8_t *a = hand + 2 * me, *c = hand + 2 * they;
          const bool shared = a[0] == c[0] || a[0] == c[1] || a[1] == c[0] || a[1] == c[1];
          const int32_t count = std::max<int32_t>(1, images.size());
          matrix[(b * tall + i) * wide + j] = shared ? 0 : static_cast<int16_t>(total / count);
        }
      }
    });
  }
}

}  // extern "C"

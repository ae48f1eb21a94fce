// What the leaves of a spot pay.

#include "spot_leaves.h"

#include "boards.h"

namespace {

// All-ins: hands of player 0 against those of player 1, and the other way round. Hands `begin` to
// `end` are those of the player who is paid.
void SpotAllIn(const SpotGame& game, const SpotStreet& street, int64_t board, int player, int64_t begin,
               int64_t end, const Lane* r, Lane* v, std::vector<float>& row) {
  const int64_t wide = game.hands[1], unit = game.hands[0] * wide;
  const int16_t* m = street.matrix + board * unit;
  if (player == 0) {
    row.resize(4 * wide);
    for (int64_t h = begin; h < end; h += 4) {
      const int64_t rows = std::min<int64_t>(4, end - h);
      for (int64_t k = 0; k < rows * wide; ++k) row[k] = m[h * wide + k];
      const float *a = row.data(), *b = a + wide, *c = b + wide, *d = c + wide;
      Lane s0 = {}, s1 = {}, s2 = {}, s3 = {};
      for (int64_t j = 0; j < wide; ++j) {
        s0 += a[j] * r[j];
        s1 += b[j] * r[j];
        s2 += c[j] * r[j];
        s3 += d[j] * r[j];
      }
      const Lane sum[4] = {s0, s1, s2, s3};
      for (int64_t k = 0; k < rows; ++k) v[h + k] = sum[k];
    }
    return;
  }
  const int64_t n = end - begin, tall = game.hands[0];
  row.resize(4 * n);
  for (int64_t j = begin; j < end; ++j) v[j] = Lane{};
  for (int64_t i = 0; i < tall; i += 4) {
    const int64_t rows = std::min<int64_t>(4, tall - i);
    std::fill(row.begin(), row.end(), 0.0f);
    for (int64_t k = 0; k < rows; ++k) {
      for (int64_t j = 0; j < n; ++j) row[k * n + j] = m[(i + k) * wide + begin + j];
    }
    const float *a = row.data(), *b = a + n, *c = b + n, *d = c + n;
    const Lane zero = {}, r0 = r[i], r1 = rows > 1 ? r[i + 1] : zero,
               r2 = rows > 2 ? r[i + 2] : zero, r3 = rows > 3 ? r[i + 3] : zero;
    for (int64_t j = 0; j < n; ++j) {
      v[begin + j] -= a[j] * r0 + b[j] * r1 + c[j] * r2 + d[j] * r3;
    }
  }
}

}  // namespace

void SpotPay(const SpotGame& game, const SpotStreet& street, int64_t board, int player, int kind,
             int64_t first, int64_t last, const SpotSequences& reach, const SpotSequences& value,
             SpotTiles& scratch, int64_t begin, int64_t end) {
  const int other = 1 - player;
  const int64_t all = game.all, own = game.hands[player], others = game.hands[other];
  if (end < 0) end = own;
  Lane *const from = scratch.tiles.reach(), *const to = scratch.tiles.value();
  const Boards boards = {all, nullptr, street.pair, street.high, street.count, nullptr};
  const int32_t* place = street.place[other] + board * others;
  const int32_t* gap = street.gap[other] + board * (all - others);
  const double chance = street.chance[board] * (kind == kAllIn ? street.unit : 1.0);
  for (int64_t at = first; at < last; at += W) {
    const int lanes = static_cast<int>(std::min<int64_t>(W, last - at));
    const float* rows[W];
    float* paid[W];
    float amount[W];
    for (int l = 0; l < W; ++l) rows[l] = reach(street.leaf[at + std::min(l, lanes - 1)].sequence[other]);
    for (int l = 0; l < lanes; ++l) {
      const SpotLeaf& leaf = street.leaf[at + l];
      paid[l] = value(leaf.sequence[player]) + begin;
      amount[l] = static_cast<float>(leaf.amount[player] * chance);
    }
    if (kind == kAllIn) {
      Load(others, rows, nullptr, from);
      SpotAllIn(game, street, board, player, begin, end, from, to, scratch.row);
      Add(end - begin, to + begin, nullptr, lanes, amount, paid);
      continue;
    }
    for (int64_t k = 0; k < all - others; ++k) from[gap[k]] = Lane{};
    Load(others, rows, place, from);
    if (kind == kFold) Fold(boards, board, from, to);
    if (kind == kShowdown) Showdown(boards, board, from, to);
    to[all] = Lane{};
    Add(own, to, street.place[player] + board * own, lanes, amount, paid);
  }
}

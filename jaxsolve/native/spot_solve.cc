// Solving a spot: iterations of CFR, and what average policies are worth.

#include "spot_pass.h"

namespace {

// Rows of the actions of a decision.
struct Actions {
  float* row[kMostActions];
};

// What iterations and measurements have in common.
class Steps : public SpotSteps {
 protected:
  Steps(const SpotGame& game, const SpotState& state, int player)
      : game_(game), own_(player), other_(1 - player) {
    for (int i = 0; i < 2; ++i) {
      for (int s = 0; s < game.streets; ++s) offset_[i][s] = SpotOffset(game, i, s);
      regret_[i] = {state.regret[i], state.regret_scale[i], game.hands[i], state.bits, true};
      mean_[i] = {state.mean[i], state.mean_scale[i], game.hands[i], state.bits, false};
      play_[i] = state.play[i];
    }
  }

  static const SpotRow& Row(const SpotPlace& place, int player, int32_t number) {
    return place.street->row[player][number];
  }

  // Where the first action of a row is in the state.
  int64_t First(const SpotPlace& place, int player, const SpotRow& row) const {
    return place.state(player, offset_[player][place.number], row.first);
  }

  // The strategy that a row is locked to, or null.
  const float* Locked(const SpotPlace& place, int player, int32_t number) const {
    const int32_t* lock = place.street->lock[player];
    if (lock == nullptr) return nullptr;
    const int32_t at = lock[place.board * place.street->rows[player] + number];
    return at < 0 ? nullptr : game_.locked[player] + at * game_.hands[player];
  }

  // Calls f(hand) for each hand that a strategy locks.
  template <class F>
  void EachLocked(const float* locked, int player, int width, F f) const {
    const int64_t hands = game_.hands[player];
    for (int64_t h = 0; h < hands; ++h) {
      float total = 0;
      for (int a = 0; a < width; ++a) total += locked[a * hands + h];
      if (total != 0) f(h);
    }
  }

  void Lock(const SpotPlace& place, int player, int32_t number, float* const* policy) const {
    const float* locked = Locked(place, player, number);
    if (locked == nullptr) return;
    const int width = Row(place, player, number).width;
    const int64_t hands = game_.hands[player];
    EachLocked(locked, player, width, [&](int64_t h) {
      for (int a = 0; a < width; ++a) policy[a][h] = locked[a * hands + h];
    });
  }

  const SpotGame& game_;
  const int own_, other_;
  int64_t offset_[2][kSpotStreets];
  SpotArray regret_[2], mean_[2];
  float* play_[2];
};

// One player's part of one iteration.
class Iteration : public Steps {
 public:
  Iteration(const SpotGame& game, const SpotState& state, int player, const SpotNumbers& numbers,
            uint32_t seed)
      : Steps(game, state, player), numbers_(numbers), seed_(seed) {}

  void Other(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, other_, number);
    const float* above = row.parent < 0 ? place.above->other[-1 - row.parent]
                                        : place.level->other(row.parent);
    const int64_t hands = game_.hands[other_];
    float* reach = place.level->other(row.first);
    Policy(place, other_, number, reach);
    for (int a = 0; a < row.width; ++a) {
      for (int64_t h = 0; h < hands; ++h) reach[a * hands + h] *= above[h];
    }
  }

  void Down(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, own_, number);
    const float* above = row.parent < 0 ? place.above->own[-1 - row.parent]
                                        : place.level->own(row.parent);
    const int64_t first = First(place, own_, row), hands = game_.hands[own_];
    float* policy = place.level->more(row.first);  // kept for the way up
    Policy(place, own_, number, policy);
    for (int a = 0; a < row.width; ++a) {
      float* reach = place.level->own(row.first + a);
      Product(hands, policy + a * hands, above, reach);
      float* mean = mean_[own_].Read(first + a, place.thread->room[1].data());
      Blend(hands, reach, numbers_.share, mean);
      mean_[own_].Write(first + a, mean, Seed(first + a, 1));
    }
  }

  void Up(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, own_, number);
    const int64_t first = First(place, own_, row), hands = game_.hands[own_];
    float* to = row.parent < 0 ? place.above->value[-1 - row.parent] : place.level->value(row.parent);
    Actions policy, worth, regret;
    for (int a = 0; a < row.width; ++a) {
      policy.row[a] = place.level->more(row.first + a);
      worth.row[a] = place.level->value(row.first + a);
      regret.row[a] = regret_[own_].Read(first + a, place.thread->room[1].data() + a * hands);
    }
    const auto update = play_[own_] ? UpdateRegrets<true> : UpdateRegrets<false>;
    update(numbers_, row.width, policy.row, worth.row, regret.row, hands, to);
    for (int a = 0; a < row.width; ++a) {
      regret_[own_].Write(first + a, regret.row[a], Seed(first + a, 0));
      if (play_[own_]) std::copy_n(policy.row[a], hands, play_[own_] + (first + a) * hands);
    }
  }

 private:
  // Writes the policy of a row to rows from `out` on.
  void Policy(const SpotPlace& place, int player, int32_t number, float* out) const {
    const SpotRow& row = Row(place, player, number);
    const int64_t first = First(place, player, row), hands = game_.hands[player];
    Actions from, to;
    for (int a = 0; a < row.width; ++a) to.row[a] = out + a * hands;
    if (play_[player]) {
      std::copy_n(play_[player] + first * hands, row.width * hands, out);
    } else {
      for (int a = 0; a < row.width; ++a) from.row[a] = regret_[player].Read(first + a, to.row[a]);
      Shares(row.width, from.row, hands, to.row);
    }
    Lock(place, player, number, to.row);
  }

  uint32_t Seed(int64_t sequence, int what) const {
    const uint64_t x = (static_cast<uint64_t>(seed_) << 32 | static_cast<uint32_t>(sequence)) * 4 +
                       2 * own_ + what;
    return static_cast<uint32_t>((x * 0x9e3779b97f4a7c15ull) >> 32);
  }

  const SpotNumbers numbers_;
  const uint32_t seed_;
};

// Where the values of the sequences of one board go, [sequences, hands] each.
struct Wanted {
  int street = -1;
  int64_t board = -1;
  float *now = nullptr, *best = nullptr;
};

// Values of a player if both play their averages, and if this one answers best.
class Measure : public Steps {
 public:
  Measure(const SpotGame& game, const SpotState& state, int player, const Wanted& wanted = {})
      : Steps(game, state, player), wanted_(wanted) {}

  void Other(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, other_, number);
    const int64_t first = First(place, other_, row);
    for (int a = 0; a < row.width; ++a) {
      float* reach = place.level->other(row.first + a);
      const float* mean = mean_[other_].Read(first + a, reach);
      if (mean != reach) std::copy_n(mean, game_.hands[other_], reach);
    }
  }

  void Down(const SpotPlace&, int32_t) override {}

  void Up(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, own_, number);
    const int64_t first = First(place, own_, row), hands = game_.hands[own_];
    Actions policy, now, best, mean;
    for (int a = 0; a < row.width; ++a) {
      policy.row[a] = place.thread->room[1].data() + a * hands;
      now.row[a] = place.level->value(row.first + a);
      best.row[a] = place.level->more(row.first + a);
      mean.row[a] = mean_[own_].Read(first + a, policy.row[a]);
    }
    if (place.number == wanted_.street && place.board == wanted_.board) {
      std::copy_n(now.row[0], row.width * hands, wanted_.now + row.first * hands);
      std::copy_n(best.row[0], row.width * hands, wanted_.best + row.first * hands);
    }
    Shares(row.width, mean.row, hands, policy.row);
    Lock(place, own_, number, policy.row);
    const bool above = row.parent < 0;
    Worth(row.width, policy.row, now.row, hands,
          above ? place.above->value[-1 - row.parent] : place.level->value(row.parent));
    float* to = above ? place.above->more[-1 - row.parent] : place.level->more(row.parent);
    if (const float* locked = Locked(place, own_, number)) {  // these hands cannot choose
      EachLocked(locked, own_, row.width, [&](int64_t h) {
        float mean = 0;
        for (int a = 0; a < row.width; ++a) mean += policy.row[a][h] * best.row[a][h];
        for (int a = 0; a < row.width; ++a) best.row[a][h] = mean;
      });
    }
    Most(row.width, best.row, hands, to);
  }

 private:
  const Wanted wanted_;
};

double Dot(const float* a, const float* b, int64_t n) {
  double total = 0;
  for (int64_t h = 0; h < n; ++h) total += static_cast<double>(a[h]) * b[h];
  return total;
}

}  // namespace

extern "C" {

// Does iterations, in each of which player 0 updates first. `first` numbers them for roundings.
void JaxsolveSpotIterate(const SpotGame* game, const SpotState* state, const float* numbers,
                         int64_t steps, int64_t first, int32_t threads) {
  static_assert(sizeof(SpotNumbers) == 7 * sizeof(float));
  Workers workers(threads);
  SpotMemory memory(*game, workers.size());
  for (int64_t k = 0; k < steps; ++k) {
    for (int i = 0; i < 2; ++i) {
      Iteration step(*game, *state, i, reinterpret_cast<const SpotNumbers*>(numbers)[k],
                     static_cast<uint32_t>(first + k));
      SpotPass(*game, i, step, workers, memory, false).Run();
    }
  }
}

// Writes payoffs of both players [2] and what best responses add to them [2].
void JaxsolveSpotMeasure(const SpotGame* game, const SpotState* state, int32_t threads, double* out) {
  Workers workers(threads);
  SpotMemory memory(*game, workers.size());
  for (int i = 0; i < 2; ++i) {
    Measure steps(*game, *state, i);
    SpotPass pass(*game, i, steps, workers, memory, true);
    pass.Run();
    out[i] = Dot(game->root[i], pass.root(), game->hands[i]);
    out[2 + i] = Dot(game->root[i], pass.root_more(), game->hands[i]) - out[i];
  }
}

// Writes the values of a player's sequences on one board [sequences, hands], under the averages and
// with best responses of the player.
void JaxsolveSpotValues(const SpotGame* game, const SpotState* state, int32_t player, int32_t street,
                        int64_t board, int32_t threads, float* now, float* best) {
  Workers workers(threads);
  SpotMemory memory(*game, workers.size());
  Measure steps(*game, *state, player, {street, board, now, best});
  SpotPass pass(*game, player, steps, workers, memory, true);
  if (street == 0) pass.Run(); else pass.RunBoard(street, board);
}

}  // extern "C"

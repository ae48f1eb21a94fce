// Solving a spot: iterations of CFR, and what average policies are worth.

#include "spot_gadget.h"
#include "spot_pass.h"

namespace {

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

  // Puts a locked strategy in.
  void Lock(const SpotPlace& place, int player, int32_t number, float* policy) const {
    const float* locked = Locked(place, player, number);
    if (locked == nullptr) return;
    const int width = Row(place, player, number).width;
    const int64_t hands = game_.hands[player];
    EachLocked(locked, player, width, [&](int64_t h) {
      for (int a = 0; a < width; ++a) policy[a * hands + h] = locked[a * hands + h];
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
      : Steps(game, state, player), numbers_(numbers), seed_(seed), half_(state.bits == 16) {}

  void Other(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, other_, number);
    const float* above = row.parent < 0 ? place.above->other[-1 - row.parent]
                                        : place.level->other(row.parent);
    const int64_t first = First(place, other_, row), hands = game_.hands[other_];
    float* reach = place.level->other(row.first);
    if (!Follows(place, other_, number)) {
      Given(place, other_, number, reach);
      for (int a = 0; a < row.width; ++a) {
        for (int64_t h = 0; h < hands; ++h) reach[a * hands + h] *= above[h];
      }
    } else if (half_) {
      Reaches(row.width, regret_[other_].AsShorts(first), above, reach);
    } else {
      Reaches(row.width, regret_[other_].AsFloats(first), above, reach);
    }
  }

  void Down(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, own_, number);
    const float* above = row.parent < 0 ? place.above->own[-1 - row.parent]
                                        : place.level->own(row.parent);
    const int64_t first = First(place, own_, row);
    float* policy = place.level->more(row.first);  // kept for the way up
    float* reach = place.level->own(row.first);
    float* mean = mean_[own_].Read(first, row.width, place.thread->room[1].data());
    if (!Follows(place, own_, number)) {
      Given(place, own_, number, policy);
      OwnReaches<true>(row.width, Floats{policy, game_.hands[own_]}, above, numbers_.share, policy,
                       reach, mean);
    } else if (half_) {
      OwnReaches<false>(row.width, regret_[own_].AsShorts(first), above, numbers_.share, policy,
                        reach, mean);
    } else {
      OwnReaches<false>(row.width, regret_[own_].AsFloats(first), above, numbers_.share, policy,
                        reach, mean);
    }
    if (half_) mean_[own_].Write(first, row.width, mean, Seed(first, 1));
  }

  void Up(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, own_, number);
    const int64_t first = First(place, own_, row), hands = game_.hands[own_];
    float* above = row.parent < 0 ? place.above->value[-1 - row.parent]
                                  : place.level->value(row.parent);
    float* policy = place.level->more(row.first);
    const float* worth = place.level->value(row.first);
    const SpotArray& regret = regret_[own_];
    if (half_) {
      float* room = place.thread->room[1].data();
      UpdateRegrets<false>(numbers_, row.width, policy, worth, regret.AsShorts(first), room, above);
      regret.Write(first, row.width, room, Seed(first, 0));
      return;
    }
    const Floats from = regret.AsFloats(first);
    float* to = const_cast<float*>(from.base);
    if (play_[own_] == nullptr) {
      UpdateRegrets<false>(numbers_, row.width, policy, worth, from, to, above);
      return;
    }
    UpdateRegrets<true>(numbers_, row.width, policy, worth, from, to, above);
    std::copy_n(policy, row.width * hands, play_[own_] + first * hands);
  }

 private:
  // Whether the policy of a row follows from its regrets alone.
  bool Follows(const SpotPlace& place, int player, int32_t number) const {
    return play_[player] == nullptr && Locked(place, player, number) == nullptr;
  }

  // Writes the policy of a row that is kept or locked to rows from `out` on.
  void Given(const SpotPlace& place, int player, int32_t number, float* out) const {
    const SpotRow& row = Row(place, player, number);
    const int64_t first = First(place, player, row), hands = game_.hands[player];
    if (play_[player]) {
      std::copy_n(play_[player] + first * hands, row.width * hands, out);
    } else if (half_) {
      Policies(row.width, regret_[player].AsShorts(first), out);
    } else {
      Policies(row.width, regret_[player].AsFloats(first), out);
    }
    Lock(place, player, number, out);
  }

  uint32_t Seed(int64_t sequence, int what) const {
    const uint64_t x = (static_cast<uint64_t>(seed_) << 32 | static_cast<uint32_t>(sequence)) * 4 +
                       2 * own_ + what;
    return static_cast<uint32_t>((x * 0x9e3779b97f4a7c15ull) >> 32);
  }

  const SpotNumbers numbers_;
  const uint32_t seed_;
  const bool half_;
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
    float* reach = place.level->other(row.first);
    const float* mean = mean_[other_].Read(First(place, other_, row), row.width, reach);
    if (mean != reach) std::copy_n(mean, row.width * game_.hands[other_], reach);
  }

  void Down(const SpotPlace&, int32_t) override {}

  void Up(const SpotPlace& place, int32_t number) override {
    const SpotRow& row = Row(place, own_, number);
    const int64_t hands = game_.hands[own_];
    const float* now = place.level->value(row.first);
    float* best = place.level->more(row.first);
    float* policy = place.thread->room[1].data();
    if (place.number == wanted_.street && place.board == wanted_.board) {
      std::copy_n(now, row.width * hands, wanted_.now + row.first * hands);
      std::copy_n(best, row.width * hands, wanted_.best + row.first * hands);
    }
    const float* mean = mean_[own_].Read(First(place, own_, row), row.width, policy);
    Policies(row.width, Floats{mean, hands}, policy);
    Lock(place, own_, number, policy);
    if (const float* locked = Locked(place, own_, number)) {  // these hands cannot choose
      EachLocked(locked, own_, row.width, [&](int64_t h) {
        float total = 0;
        for (int a = 0; a < row.width; ++a) total += policy[a * hands + h] * best[a * hands + h];
        for (int a = 0; a < row.width; ++a) best[a * hands + h] = total;
      });
    }
    const bool above = row.parent < 0;
    Values(row.width, hands, policy, now, best,
           above ? place.above->value[-1 - row.parent] : place.level->value(row.parent),
           above ? place.above->more[-1 - row.parent] : place.level->more(row.parent));
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

// Does iterations, in each of which player 0 updates first. `first` numbers them for roundings;
// `gadget` may be null.
void JaxsolveSpotIterate(const SpotGame* game, const SpotState* state, const SpotGadget* gadget,
                         const float* numbers, int64_t steps, int64_t first, int32_t threads) {
  static_assert(sizeof(SpotNumbers) == 7 * sizeof(float));
  Workers workers(threads);
  SpotMemory memory(*game, workers.size());
  GadgetGame played(*game, gadget);
  played.Now();
  for (int64_t k = 0; k < steps; ++k) {
    const SpotNumbers& number = reinterpret_cast<const SpotNumbers*>(numbers)[k];
    for (int i = 0; i < 2; ++i) {
      Iteration step(played.game(), *state, i, number, static_cast<uint32_t>(first + k));
      SpotPass pass(played.game(), i, step, workers, memory, false);
      pass.Run();
      played.Update(i, pass.root(), number.share);
    }
  }
}

// Writes payoffs of both players [2] and what best responses add to them [2].
void JaxsolveSpotMeasure(const SpotGame* game, const SpotState* state, const SpotGadget* gadget,
                         int32_t threads, double* out) {
  Workers workers(threads);
  SpotMemory memory(*game, workers.size());
  GadgetGame played(*game, gadget);
  played.Average();
  double stay[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    Measure steps(played.game(), *state, i);
    SpotPass pass(played.game(), i, steps, workers, memory, true);
    pass.Run();
    const float* root = played.game().root[i];
    out[i] = Dot(root, pass.root(), game->hands[i]);
    out[2 + i] = Dot(root, pass.root_more(), game->hands[i]) - out[i];
    if (i == played.player()) played.Stay(pass.root_more(), stay);
  }
  if (!gadget) return;
  const int64_t own = gadget->player;
  out[own] += stay[0], out[1 - own] -= stay[0], out[2 + own] += stay[1] - stay[0];
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

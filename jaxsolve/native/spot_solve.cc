// Iterations of CFR on a spot.

#include "spot_steps.h"

namespace {

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
      SpotPass(played.game(), i, step, workers, memory, false);
      played.Update(i, memory.root.data(), number.share);
    }
  }
}

}  // extern "C"

// What iterations and measurements of a spot have in common: rows of the state, and locks.

#ifndef JAXSOLVE_SPOT_STEPS_H_
#define JAXSOLVE_SPOT_STEPS_H_

#include "spot_gadget.h"
#include "spot_pass.h"

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

#endif  // JAXSOLVE_SPOT_STEPS_H_

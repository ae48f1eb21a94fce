// A choice of one player before a spot, hand by hand: to play it, or to take what staying out pays.
// Besides, hands may come that have no choice.

#ifndef JAXSOLVE_SPOT_GADGET_H_
#define JAXSOLVE_SPOT_GADGET_H_

#include <algorithm>
#include <vector>

#include "spot_game.h"

struct SpotGadget {
  int64_t player;
  const float* stay;  // [hands], counterfactual value of staying out
  const float* come;  // [hands], reach of those that have no choice
  float* state;       // [3, hands]: regrets of playing and of staying out, average chance to play
};

// A spot where the reach of the player at the root is that of the hands that play.
class GadgetGame {
 public:
  // `gadget` may be null: then it is the spot itself.
  GadgetGame(const SpotGame& game, const SpotGadget* gadget) : game_(game), gadget_(gadget) {
    if (!gadget) return;
    hands_ = game.hands[gadget->player];
    range_ = game.root[gadget->player];
    reach_.resize(hands_);
    game_.root[gadget->player] = reach_.data();
  }

  const SpotGame& game() const { return game_; }

  // Lets hands play as regrets say.
  void Now() {
    for (int64_t h = 0; h < hands_; ++h) reach_[h] = gadget_->come[h] + range_[h] * Plays(h);
  }

  // Lets hands play as they did on the average.
  void Average() {
    for (int64_t h = 0; h < hands_; ++h) reach_[h] = gadget_->come[h] + range_[h] * average()[h];
  }

  // Takes what playing was worth to the hands of a player, and lets them play as regrets say then.
  void Update(int player, const float* value, float share) {
    if (!gadget_ || gadget_->player != player) return;
    float *plays = gadget_->state, *stays = plays + hands_;
    for (int64_t h = 0; h < hands_; ++h) {
      const float chance = Plays(h), stay = gadget_->stay[h];
      const float mean = chance * value[h] + (1 - chance) * stay;
      average()[h] += share * (chance - average()[h]);
      plays[h] = std::max(0.0f, plays[h] + value[h] - mean);
      stays[h] = std::max(0.0f, stays[h] + stay - mean);
    }
    Now();
  }

  // Adds what staying out is worth: to the player's payoff [0] and, by a best response, to what it
  // wins [1]. `now` and `best` are what playing is worth to its hands.
  void Stay(const float* best, double* out) const {
    for (int64_t h = 0; h < hands_; ++h) {
      const double stay = gadget_->stay[h], some = (1 - average()[h]) * stay;
      out[0] += range_[h] * some;
      out[1] += range_[h] * (std::max<double>(best[h], stay) - average()[h] * best[h]);
    }
  }

  int64_t player() const { return gadget_ ? gadget_->player : -1; }

 private:
  float* average() const { return gadget_->state + 2 * hands_; }

  float Plays(int64_t h) const {
    const float play = gadget_->state[h], stay = gadget_->state[hands_ + h];
    return play + stay > 0 ? play / (play + stay) : 0.5f;
  }

  SpotGame game_;
  const SpotGadget* gadget_;
  const float* range_ = nullptr;
  int64_t hands_ = 0;
  std::vector<float> reach_;
};

#endif  // JAXSOLVE_SPOT_GADGET_H_

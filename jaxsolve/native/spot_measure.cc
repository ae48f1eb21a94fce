// What average policies of a spot are worth, to themselves and to best responses.

#include "spot_steps.h"

namespace {

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
    SpotPass(played.game(), i, steps, workers, memory, true);
    const int64_t hands = game->hands[i];
    const float *root = played.game().root[i], *now = memory.root.data(), *best = now + hands;
    out[i] = Dot(root, now, hands);
    out[2 + i] = Dot(root, best, hands) - out[i];
    if (i == played.player()) played.Stay(best, stay);
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
  if (street == 0) SpotPass(*game, player, steps, workers, memory, true);
  else SpotPassTo(*game, player, steps, workers, memory, street, board);
}

}  // extern "C"

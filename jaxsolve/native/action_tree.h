// The public actions of a game and tables over them, shared by what walks them.

#ifndef JAXSOLVE_ACTION_TREE_H_
#define JAXSOLVE_ACTION_TREE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

constexpr int kMostActions = 32, kMostPlayers = 10;

// What a node is: a decision with regrets; the choice of a continuation, whose actions all lead to
// one child; or a decision beyond a depth limit, with the policy of a blueprint, whose `row` is in
// the blueprint's tables.
enum Role : uint8_t { kPlay = 0, kChoice = 1, kFixed = 2 };

struct Node {
  int64_t row;    // first entry in the tables
  int32_t child;  // first child; the others follow it
  int32_t end;    // number among the ends, or -1
  uint8_t count;  // actions; 0 at an end
  int8_t actor;
  uint8_t stage;
  uint8_t prunable;  // a bit for each of the first eight actions
  uint8_t role;      // a `Role`
  uint8_t kind;      // of the action that led here: 0 a fold, 1 a check or call, 2 a bet or raise
  uint16_t padding;
};
static_assert(sizeof(Node) == 24);

struct Game {
  const Node* nodes;
  const int32_t* spent;   // [ends, players], or null
  const uint8_t* folded;  // [ends, players]
  const float* payoff;    // [outcomes, ends, players], where there are no pots
  int64_t ends;
  int32_t players, stages;
};

// Entries of 16 bits are the upper halves of floats; what is cut off decides by chance.
struct Full {
  typedef float Entry;
  static float Get(const float* at) { return *at; }
  static void Set(float* at, float value, uint64_t) { *at = value; }
};

struct Half {
  typedef uint16_t Entry;
  static float Get(const uint16_t* at) {
    const uint32_t bits = static_cast<uint32_t>(*at) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  static void Set(uint16_t* at, float value, uint64_t random) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    *at = static_cast<uint16_t>((bits + (random & 0xffff)) >> 16);
  }
};

// Regret matching; returns nothing of padding. The last entries take what rounding leaves.
template <class Form>
inline void Match(const typename Form::Entry* regret, int count, float* policy) {
  float total = 0;
  for (int a = 0; a < count; ++a) {
    policy[a] = std::max(Form::Get(regret + a), 0.0f);
    total += policy[a];
  }
  const float scale = total > 0 ? 1 / total : 0, even = total > 0 ? 0.0f : 1.0f / count;
  for (int a = 0; a < count; ++a) policy[a] = policy[a] * scale + even;
}

#endif  // JAXSOLVE_ACTION_TREE_H_

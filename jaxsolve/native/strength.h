// Strength of five to seven cards, with the numbers of `jaxsolve/holdem/_strength.py`.

#ifndef JAXSOLVE_STRENGTH_H_
#define JAXSOLVE_STRENGTH_H_

#include <cstdint>

// Ranks of a card set as masks of 13 bits, by suit.
struct Suits {
  uint32_t rank[4] = {0, 0, 0, 0};
  void Add(int card) { rank[card & 3] |= 1u << (card >> 2); }
};

inline uint32_t Highest(uint32_t mask) { return mask ? 1u << (31 - __builtin_clz(mask)) : 0; }

inline uint32_t DropLowest(uint32_t mask, int count) {
  for (int i = 0; i < count; ++i) mask &= mask - 1;
  return mask;
}

// The bit of the highest card of the best straight, 0 if there is none.
inline uint32_t Straight(uint32_t mask) {
  const uint32_t m = mask << 1 | mask >> 12;  // the ace below the two as well
  return Highest((m & m << 1 & m << 2 & m << 3 & m << 4) >> 1 & 0x1fff);
}

inline int32_t Ranked(uint32_t category, uint32_t main, uint32_t kickers) {
  return static_cast<int32_t>(category << 26 | main << 13 | kickers);
}

inline int32_t Strength(const Suits& s, int cards = 7) {
  const int spare = cards - 5;
  const uint32_t c = s.rank[0], d = s.rank[1], h = s.rank[2], p = s.rank[3];
  for (uint32_t suit : s.rank) {
    if (__builtin_popcount(suit) < 5) continue;  // a flush leaves no room for a full house
    if (const uint32_t top = Straight(suit)) return Ranked(8, top, 0);
    while (__builtin_popcount(suit) > 5) suit &= suit - 1;
    return Ranked(5, suit, 0);
  }
  const uint32_t once = c | d | h | p;
  const uint32_t twice = (c & d) | (h & p) | ((c | d) & (h | p));
  const uint32_t top = Straight(once);
  if (!twice) return top ? Ranked(4, top, 0) : Ranked(0, 0, DropLowest(once, spare));
  const uint32_t thrice = (c & d & (h | p)) | (h & p & (c | d));
  if (const uint32_t four = c & d & h & p) return Ranked(7, four, Highest(once ^ four));
  const uint32_t triple = Highest(thrice), full = Highest(twice ^ triple);
  if (triple && full) return Ranked(6, triple, full);
  if (top) return Ranked(4, top, 0);
  if (triple) return Ranked(3, triple, DropLowest(once ^ triple, spare));
  const uint32_t pair = Highest(twice), second = Highest(twice ^ pair);
  if (second) return Ranked(2, pair | second, Highest(once ^ pair ^ second));
  return Ranked(1, pair, DropLowest(once ^ pair, spare));
}

#endif  // JAXSOLVE_STRENGTH_H_

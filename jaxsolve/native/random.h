// Random numbers by counting: a number depends on what it is for and on nothing drawn before.
//
// The finaliser is that of splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
// generators"). `jaxsolve/mccfr/_random.py` gives the same numbers in NumPy.

#ifndef JAXSOLVE_RANDOM_H_
#define JAXSOLVE_RANDOM_H_

#include <cstdint>

inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The key of one pass; numbers within it differ by `what`.
inline uint64_t PassKey(uint64_t seed, uint64_t pass) { return Mix(Mix(seed) ^ pass); }

// Uniform in [0, 1), 24 bits.
inline float Uniform(uint64_t key, uint64_t what) {
  return static_cast<float>(Mix(key ^ what) >> 40) * 0x1p-24f;
}

#endif  // JAXSOLVE_RANDOM_H_

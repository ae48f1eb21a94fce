// SIMD lanes, and tiles [hand][lane] in which W leaves are worked on at a time.

#ifndef JAXSOLVE_LANES_H_
#define JAXSOLVE_LANES_H_

#include <cstdint>
#include <memory>
#include <new>

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif
typedef float Lane __attribute__((vector_size(4 * W), aligned(4 * W)));

enum Kind { kFold = 0, kShowdown = 1, kAllIn = 2 };

// Two tiles [hands + 1]; the last place takes the hands that meet the board.
class Tiles {
 public:
  explicit Tiles(int64_t hands)
      : memory_(new (std::align_val_t(64)) Lane[2 * (hands + 1)]), value_(hands + 1) {}
  Lane* reach() { return memory_.get(); }
  Lane* value() { return memory_.get() + value_; }

 private:
  struct Free {
    void operator()(Lane* tiles) const { operator delete[](tiles, std::align_val_t(64)); }
  };
  std::unique_ptr<Lane[], Free> memory_;
  int64_t value_;
};

#endif  // JAXSOLVE_LANES_H_

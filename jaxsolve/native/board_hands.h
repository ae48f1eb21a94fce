// The hands on one complete board, in the order of each street's buckets.
//
// A *row* holds one float for each hand. Hands of one bucket lie together, in whole chunks of `kChunk`
// floats, so that what a bucket plays is one broadcast a chunk and what a bucket wins is a sum of
// chunks; the places that fill the last chunk of a bucket hold zeros. An empty chunk ends the row.

#ifndef JAXSOLVE_BOARD_HANDS_H_
#define JAXSOLVE_BOARD_HANDS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "boards.h"
#include "buckets.h"
#include "strength.h"

constexpr int kChunk = 4, kLive = 1081;
typedef float Chunk __attribute__((vector_size(4 * kChunk), aligned(4 * kChunk)));

struct Street {
  int32_t slots = 0;             // floats of a row
  std::vector<int32_t> bucket;   // [present], the buckets that some hand is in
  std::vector<int32_t> begin;    // [present + 1], first chunk of each
  std::vector<int32_t> place;    // [slots], by strength; `slots` where there is no hand
  std::vector<int32_t> before;   // [slots], where the hand is in rows of the street before
  std::vector<int32_t> after;    // [slots], where it is in rows of the street after
  Boards leaf;                   // for `Pay`

  int present() const { return static_cast<int>(bucket.size()); }
};

class BoardHands {
 public:
  // Sets the hands up for a board of five cards on the streets from `first` on; `own` has the buckets
  // of the street `solved`, if that is not -1.
  void Deal(const Buckets& buckets, const uint8_t* board, int first, int streets, int solved,
            const uint16_t* own) {
    Order(board);
    std::vector<int32_t> slot[kStreets];
    for (int s = first; s < streets; ++s) {
      slot[s] = Arrange(s == solved ? Buckets::Row{own, nullptr} : buckets.At(s, board), street_[s]);
    }
    for (int s = first; s < streets; ++s) {
      Street& here = street_[s];
      if (s > first) Map(slot[s], slot[s - 1], street_[s - 1].slots, here.slots, here.before);
      if (s + 1 < streets) Map(slot[s], slot[s + 1], street_[s + 1].slots, here.slots, here.after);
      here.leaf = {here.slots, here.place.data(), pair_, high_, &count_, nullptr};
    }
  }

  const Street& street(int s) const { return street_[s]; }

  // The number of the hand at a place in the order of strength.
  int32_t hand(int32_t place) const { return hand_[place]; }

 private:
  // Sorts the hands by strength.
  void Order(const uint8_t* board) {
    bool out[kDeck] = {};
    Suits common;
    for (int i = 0; i < 5; ++i) out[board[i]] = true, common.Add(board[i]);
    int n = 0, number = 0;
    uint64_t key[kLive];
    uint8_t cards[kHands][2];
    for (int a = 0; a < kDeck; ++a) {
      for (int b = a + 1; b < kDeck; ++b, ++number) {
        cards[number][0] = a, cards[number][1] = b;
        if (out[a] || out[b]) continue;
        Suits all = common;
        all.Add(a);
        all.Add(b);
        key[n++] = static_cast<uint64_t>(Strength(all)) << 11 | number;
      }
    }
    std::sort(key, key + n);
    for (int k = n - 1; k >= 0; --k) {
      hand_[k] = key[k] & 2047;
      pair_[2 * k] = cards[hand_[k]][0], pair_[2 * k + 1] = cards[hand_[k]][1];
      high_[k] = k + 1 < n && key[k] >> 11 == key[k + 1] >> 11 ? high_[k + 1] : k + 1;
    }
  }

  // Lays rows out by bucket; returns the slot of each place.
  std::vector<int32_t> Arrange(Buckets::Row of, Street& out) const {
    std::vector<int32_t> bucket(kLive), order(kLive), slot(kLive);
    for (int k = 0; k < kLive; ++k) bucket[k] = of[hand_[k]];
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return bucket[a] != bucket[b] ? bucket[a] < bucket[b] : a < b;
    });
    out.bucket.clear();
    out.begin.clear();
    int at = 0;
    for (int k = 0; k < kLive; ++k) {
      if (k == 0 || bucket[order[k]] != out.bucket.back()) {
        at = (at + kChunk - 1) / kChunk * kChunk;
        out.bucket.push_back(bucket[order[k]]);
        out.begin.push_back(at / kChunk);
      }
      slot[order[k]] = at++;
    }
    at = (at + kChunk - 1) / kChunk * kChunk;
    out.begin.push_back(at / kChunk);
    out.slots = (at + kChunk + 7) / 8 * 8;
    out.place.assign(out.slots, out.slots);
    for (int k = 0; k < kLive; ++k) out.place[slot[k]] = k;
    return slot;
  }

  // Where each slot of a row finds its hand in rows of another street; its empty chunk if it is none.
  static void Map(const std::vector<int32_t>& slot, const std::vector<int32_t>& other,
                  int32_t others, int32_t slots, std::vector<int32_t>& out) {
    out.assign(slots, others - 1);
    for (int k = 0; k < kLive; ++k) out[slot[k]] = other[k];
  }

  Street street_[kStreets];
  int32_t hand_[kLive], high_[kLive], count_ = kLive;
  uint8_t pair_[2 * kLive];
};

// Rows of one street that are used again, the last first.
class Rows {
 public:
  void Reset(int32_t slots) {
    if (slots > slots_) memory_.clear(), slots_ = (slots + 15) / 16 * 16;
    used_ = 0;
  }

  float* New() {
    if (used_ == memory_.size()) {
      memory_.emplace_back(static_cast<float*>(::operator new[](4 * slots_, std::align_val_t(64))));
    }
    return memory_[used_++].get();
  }

  float* NewZero() { return NewZero(slots_); }

  // A row with its first floats zero.
  float* NewZero(int32_t floats) {
    float* row = New();
    std::fill(row, row + floats, 0.0f);
    return row;
  }

  size_t used() const { return used_; }
  void Release(size_t used) { used_ = used; }

 private:
  struct Free {
    void operator()(float* row) const { ::operator delete[](row, std::align_val_t(64)); }
  };
  std::vector<std::unique_ptr<float[], Free>> memory_;
  int32_t slots_ = 0;
  size_t used_ = 0;
};

#endif  // JAXSOLVE_BOARD_HANDS_H_

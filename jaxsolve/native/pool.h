// Work in phases on XLA's threads.
//
// A phase is a number of independent items; the next phase begins when all of them are done. Each
// thread begins with its own share of the items, the same in every phase, so that what an item needs
// is still in its core's cache, and then takes what is left of the others' shares. The calling thread
// works too and waits only for items that somebody is working on, never for a task that the pool has
// yet to start, so a busy pool costs speed and nothing else.

#ifndef JAXSOLVE_POOL_H_
#define JAXSOLVE_POOL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "xla/ffi/api/ffi.h"

class Phases {
 public:
  // Adds a phase of `count` items.
  void Then(int64_t count, std::function<void(int64_t)> work) {
    if (count > 0) phases_.push_back(std::make_unique<Phase>(count, std::move(work)));
  }

  // Works through all phases; `owner` is kept alive until the last thread has left.
  template <class Owner>
  void Run(xla::ffi::ThreadPool& pool, int64_t workers, std::shared_ptr<Owner> owner) {
    workers_ = std::min<int64_t>(workers, kMost);
    for (int64_t k = 1; k < workers_; ++k) pool.Schedule([this, owner, k] { Help(k); });
    while (current_.load(std::memory_order_acquire) < phases_.size()) {
      const size_t p = current_.load(std::memory_order_acquire);
      // Helpers that gave up waiting are called again.
      for (uint64_t idle = idle_.exchange(0), k = 1; idle >> k; ++k) {
        if (idle >> k & 1) pool.Schedule([this, owner, k] { Help(k); });
      }
      Take(p, 0);
      for (int spin = 0; current_.load(std::memory_order_acquire) == p; ++spin) {
        if (spin < kSpin) Pause(); else std::this_thread::yield();
      }
    }
  }

 private:
  static constexpr int kSpin = 4000;

  static constexpr int64_t kMost = 64;  // threads

  struct Phase {
    Phase(int64_t n, std::function<void(int64_t)> f) : count(n), work(std::move(f)) {}
    const int64_t count;
    const std::function<void(int64_t)> work;
    std::atomic<int64_t> next[kMost] = {}, done{0};  // `next` of each share
  };

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void Take(size_t p, int64_t worker) {
    Phase& phase = *phases_[p];
    for (int64_t k = 0; k < workers_; ++k) {
      const int64_t share = (worker + k) % workers_;
      const int64_t begin = phase.count * share / workers_;
      const int64_t size = phase.count * (share + 1) / workers_ - begin;
      for (int64_t i; (i = phase.next[share].fetch_add(1, std::memory_order_relaxed)) < size;) {
        phase.work(begin + i);
        if (phase.done.fetch_add(1, std::memory_order_acq_rel) + 1 == phase.count) {
          current_.store(p + 1, std::memory_order_release);
        }
      }
    }
  }

  void Help(int64_t worker) {
    for (size_t p; (p = current_.load(std::memory_order_acquire)) < phases_.size();) {
      Take(p, worker);
      for (int spin = 0; current_.load(std::memory_order_acquire) == p; ++spin) {
        if (spin == kSpin) {
          idle_.fetch_or(uint64_t{1} << worker);
          return;
        }
        Pause();
      }
    }
  }

  std::vector<std::unique_ptr<Phase>> phases_;
  std::atomic<size_t> current_{0};
  std::atomic<uint64_t> idle_{0};  // workers that gave up waiting
  int64_t workers_ = 1;
};

#endif  // JAXSOLVE_POOL_H_

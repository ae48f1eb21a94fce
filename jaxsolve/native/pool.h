// Work in phases on XLA's threads.
//
// A phase is a number of independent items; the next phase begins when all of them are done. The
// calling thread works too and waits only for items that somebody is working on, never for a task
// that the pool has yet to start, so a busy pool costs speed and nothing else.

#ifndef JAXSOLVE_POOL_H_
#define JAXSOLVE_POOL_H_

#include <atomic>
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
    for (int64_t k = 1; k < workers; ++k) pool.Schedule([this, owner] { Help(); });
    while (current_.load(std::memory_order_acquire) < phases_.size()) {
      const size_t p = current_.load(std::memory_order_acquire);
      // Helpers that gave up waiting are called again.
      for (int k = idle_.exchange(0); k > 0 && phases_[p]->count > 1; --k) {
        pool.Schedule([this, owner] { Help(); });
      }
      Take(p);
      for (int spin = 0; current_.load(std::memory_order_acquire) == p; ++spin) {
        if (spin < kSpin) Pause(); else std::this_thread::yield();
      }
    }
  }

 private:
  static constexpr int kSpin = 4000;

  struct Phase {
    Phase(int64_t n, std::function<void(int64_t)> f) : count(n), work(std::move(f)) {}
    const int64_t count;
    const std::function<void(int64_t)> work;
    std::atomic<int64_t> next{0}, done{0};
  };

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void Take(size_t p) {
    Phase& phase = *phases_[p];
    for (int64_t k; (k = phase.next.fetch_add(1, std::memory_order_relaxed)) < phase.count;) {
      phase.work(k);
      if (phase.done.fetch_add(1, std::memory_order_acq_rel) + 1 == phase.count) {
        current_.store(p + 1, std::memory_order_release);
      }
    }
  }

  void Help() {
    for (size_t p; (p = current_.load(std::memory_order_acquire)) < phases_.size();) {
      Take(p);
      for (int spin = 0; current_.load(std::memory_order_acquire) == p; ++spin) {
        if (spin == kSpin) {
          idle_.fetch_add(1);
          return;
        }
        Pause();
      }
    }
  }

  std::vector<std::unique_ptr<Phase>> phases_;
  std::atomic<size_t> current_{0};
  std::atomic<int> idle_{0};
};

#endif  // JAXSOLVE_POOL_H_

// Threads that share out numbered tasks.

#ifndef JAXSOLVE_WORKERS_H_
#define JAXSOLVE_WORKERS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Workers {
 public:
  // `threads` in all, the calling one included.
  explicit Workers(int threads) {
    for (int k = 1; k < threads; ++k) threads_.emplace_back([this, k] { Serve(k); });
  }

  ~Workers() {
    Publish(nullptr, 0);
    for (std::thread& thread : threads_) thread.join();
  }

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls work(thread, task) for every task and returns when all are done.
  void Run(int64_t tasks, const std::function<void(int, int64_t)>& work) {
    if (threads_.empty()) {
      for (int64_t k = 0; k < tasks; ++k) work(0, k);
      return;
    }
    next_.store(0, std::memory_order_relaxed);
    busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    Publish(&work, tasks);
    Take(0);
    for (int spin = 0; busy_.load(std::memory_order_acquire) > 0; ++spin) {
      if (spin > kSpin) std::this_thread::yield(); else Pause();
    }
  }

 private:
  static constexpr int kSpin = 4000;

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void Publish(const std::function<void(int, int64_t)>* work, int64_t tasks) {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      work_ = work;
      tasks_ = tasks;
      round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
  }

  void Take(int thread) {
    for (int64_t k; (k = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;) {
      (*work_)(thread, k);
    }
  }

  void Serve(int thread) {
    for (uint64_t seen = 0;;) {
      for (int spin = 0; round_.load(std::memory_order_acquire) == seen && spin < kSpin; ++spin) Pause();
      {
        std::unique_lock<std::mutex> hold(mutex_);
        wake_.wait(hold, [&] { return round_.load(std::memory_order_acquire) != seen; });
        seen = round_.load(std::memory_order_acquire);
        if (work_ == nullptr) return;
      }
      Take(thread);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  const std::function<void(int, int64_t)>* work_ = nullptr;
  int64_t tasks_ = 0;
  std::atomic<uint64_t> round_{0};
  std::atomic<int64_t> next_{0};
  std::atomic<int> busy_{0};
};

#endif  // JAXSOLVE_WORKERS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"
#include "support/chaos.hpp"
#include "support/no_threads.hpp"

// Threads that ask by ever new handles, each of which needs threads of its own, while threads can be
// started at some moments and not at others.

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kLimit = 3;
constexpr int kVisitors = 8;
constexpr const char* kGate = "gate";

class Crowd {
 public:
  explicit Crowd(std::chrono::seconds time) : end_(std::chrono::steady_clock::now() + time) {}

  testing::ChaosRow run() {
    row_ = {
        .scenario = "thread creation failing (shm)", .over_admissions = 0, .leaks = 0, .hangs = 0};
    {
      std::vector<std::jthread> visitors;
      for (int i = 0; i < kVisitors; ++i) visitors.emplace_back([this, i] { visit(i); });
      while (std::chrono::steady_clock::now() < end_) {
        std::this_thread::sleep_for(1ms);
        const NoThreads none;
        std::this_thread::sleep_for(1ms);
      }
    }
    row_.faults = failed_;
    row_.operations = entered_;
    row_.over_admissions = over_;
    row_.leaks = leaked_ + left();
    row_.hangs = entered_ == 0 || failed_ == 0 ? 1 : 0;
    return row_;
  }

 private:
  [[nodiscard]] Store open() const {
    return shm::make_store({.dir = dir_.path()}, Clock::system());
  }

  void visit(int number) {
    for (int i = number; std::chrono::steady_clock::now() < end_; ++i) {
      const Store store = open();
      const Airlock gate(store, kGate, {.limit = kLimit, .ttl = 5s, .max_wait = 5s});
      try {
        Outcome<Lease> lease = i % 2 == 0 ? gate.enter() : gate.join().wait();
        if (lease) hold(*lease, i);
      } catch (const SealAcquiringError&) {
        ++failed_;
      }
      if (!store.drain(0s)) ++leaked_;
    }
  }

  void hold(Lease& lease, int i) {
    if (++inside_ > kLimit) ++over_;
    ++entered_;
    if (i % 3 == 0) {
      try {
        (void)lease.lost();
      } catch (const StoreError&) {
        ++failed_;
      }
    }
    --inside_;
    lease = Lease();
  }

  // In the store when everybody is gone.
  [[nodiscard]] std::uint64_t left() const {
    const auto view = open().look(kGate);
    return view ? view->holders.size() + view->line.size() : 0;
  }

  const std::chrono::steady_clock::time_point end_;
  TempDir dir_;
  testing::ChaosRow row_;
  std::atomic<std::uint32_t> inside_ = 0;
  std::atomic<std::uint64_t> entered_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> over_ = 0;
  std::atomic<std::uint64_t> leaked_ = 0;
};

TEST(ThreadCreationFailing, UnderLoadLeavesNothingBehind) {
  Crowd(testing::takes_its_time() ? 60s : 5s).run().report();
}

}  // namespace
}  // namespace airlock

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "airlock/airlock_gate.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "store/redis/support/server.hpp"
#endif
#include "store/support/temp_dir.hpp"

namespace airlock {

// A store of each kind in real time, as users open it.
class RealStoreTest : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr auto kLong = std::chrono::minutes(10);  // However slow the machine is.

  [[nodiscard]] static std::string uri(const std::string& kind, const TempDir& dir) {
#ifdef AIRLOCK_WITH_REDIS
    if (kind == "redis") {
      return testing::RedisServer::shared().uri() + "?prefix=" + testing::unused_prefix();
    }
#endif
    return kind == "shm" ? "shm:test?dir=" + dir.path() : "memory:";
  }

  [[nodiscard]] Airlock gate(std::uint32_t limit) const {
    return {store_, "erp", {.limit = limit, .max_wait = kLong, .claim_window = kLong}};
  }
  [[nodiscard]] std::uint32_t waiting() const {
    const auto view = store_.look("erp");
    return view ? view->counts.waiting : 0;
  }
  // Nothing of this process is left behind.
  void expect_nobody() const {
    EXPECT_TRUE(store_.drain(kLong));
    EXPECT_TRUE(store_.flush(kLong));
    const auto view = store_.look("erp");
    EXPECT_EQ(view ? view->counts.holders : 0, 0U);
    EXPECT_EQ(waiting(), 0U);
  }

  TempDir dir_;
  Store store_ = open_store(uri(GetParam(), dir_));
};

#ifdef AIRLOCK_WITH_REDIS
#define AIRLOCK_REAL_STORES ::testing::Values("memory", "shm", "redis")
#else
#define AIRLOCK_REAL_STORES ::testing::Values("memory", "shm")
#endif
#define AIRLOCK_REAL_STORE_SUITE(Suite) \
  INSTANTIATE_TEST_SUITE_P(Stores, Suite, AIRLOCK_REAL_STORES, kind_of)

inline std::string kind_of(const ::testing::TestParamInfo<const char*>& tested) {
  return tested.param;
}

// Runs what is posted, on the thread that calls run_until().
class Loop {
 public:
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    posted_.notify_all();
  }
  // False: nothing came for a very long time.
  template <typename Condition>
  [[nodiscard]] bool run_until(Condition condition) {
    while (!condition()) {
      if (!wait_for(1)) return false;
      run_one();
    }
    return true;
  }
  [[nodiscard]] bool wait_for(std::size_t posted) {
    std::unique_lock lock(mutex_);
    return posted_.wait_for(lock, std::chrono::minutes(5), [&] { return queue_.size() >= posted; });
  }
  void run_one() {
    std::unique_lock lock(mutex_);
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
  }
  [[nodiscard]] std::size_t size() {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }
  void clear() {
    std::deque<std::function<void()>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace airlock

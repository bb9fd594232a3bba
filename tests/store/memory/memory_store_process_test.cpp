#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "airlock/store.hpp"
#include "base/clock.hpp"
#include "store/memory/memory_store.hpp"
#include "support/in_child.hpp"

// A memory store in a forked child is empty and usable, whatever the parent's threads were doing.

namespace airlock {
namespace {

using namespace std::chrono_literals;

Request ask(const GateName& gate, const VisitorId& visitor) {
  return {
      .gate = gate, .visitor = visitor, .label = "test", .permits = Permits{.limit = 1, .ttl = 1h}};
}

// The gate can be used, and nothing that the parent did to it is seen.
bool is_empty_and_usable(const Store& store, const GateName& gate, const Token& of_parent) {
  if (store.look(gate) || !store.list().empty()) return false;
  if (store.release(of_parent) || store.renew(of_parent, 1min) != Renewal::gone) return false;
  const Answer answer = store.admit(ask(gate, VisitorId::random()));
  const auto* granted = std::get_if<Granted>(&answer);
  return granted != nullptr && store.look(gate)->counts.in_use == 1 &&
         store.release(granted->token) && store.look(gate)->counts.in_use == 0;
}

// Time that stands still for one thread, inside a step of the store, until it is let go.
class StickyClock final : public Clock {
 public:
  void hold_next_step_of(std::thread::id thread) {
    const std::lock_guard lock(mutex_);
    held_ = thread;
  }
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_held_; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    held_ = {};
    changed_.notify_all();
  }

  Instant now() noexcept override {
    if (getpid() == parent_) {
      std::unique_lock lock(mutex_);
      if (held_ == std::this_thread::get_id()) {
        is_held_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return held_ != std::this_thread::get_id(); });
        is_held_ = false;
      }
    }
    return Clock::system().now();
  }
  Instant wall() noexcept override { return Clock::system().wall(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    Clock::system().wait_until(lock, changed, deadline);
  }

 private:
  pid_t parent_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id held_;
  bool is_held_ = false;
};

TEST(AForkedMemoryStore, IsEmptyAndUsableThoughItWasLocked) {
  StickyClock clock;
  const Store store = memory::make_store({.shards = 1}, clock);
  const Token token = std::get<Granted>(store.admit(ask("gate", {1, 1}))).token;
  std::mutex start;
  std::unique_lock not_yet(start);
  std::thread other([&] {
    const std::lock_guard wait(start);
    (void)store.look("gate");  // Stops inside, with the lock.
  });
  clock.hold_next_step_of(other.get_id());
  not_yet.unlock();
  clock.wait_until_held();
  EXPECT_TRUE(holds_in_child([&] { return is_empty_and_usable(store, "gate", token); }));
  clock.let_go();
  other.join();
  EXPECT_EQ(store.renew(token, 1min), Renewal::renewed);
}

TEST(AForkedMemoryStore, IsEmptyAndUsableInAStormOfForks) {
  const Store store = memory::make_store({.shards = 1}, Clock::system());
  const Token token = std::get<Granted>(store.admit(ask("gate", {1, 1}))).token;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> steps{0};
  std::thread user([&] {
    for (std::uint64_t i = 0; !stop; ++i) {
      const Answer answer = store.admit(ask("busy:" + std::to_string(i % 100), {2, i}));
      EXPECT_TRUE(store.release(std::get<Granted>(answer).token));
      ++steps;
    }
  });
  while (steps == 0) std::this_thread::yield();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(holds_in_child([&] { return is_empty_and_usable(store, "gate", token); })) << i;
  }
  stop = true;
  user.join();
  EXPECT_EQ(store.renew(token, 1min), Renewal::renewed);
  EXPECT_EQ(store.look("gate")->counts.in_use, 1U);
  EXPECT_TRUE(store.release(token));
}

TEST(AForkedMemoryStore, IsEmptyInAGrandchildToo) {
  const Store store = memory::make_store({}, Clock::system());
  const Token token = std::get<Granted>(store.admit(ask("gate", {1, 1}))).token;
  EXPECT_TRUE(holds_in_child([&] {
    const Answer answer = store.admit(ask("gate", {1, 2}));
    const Token of_child = std::get<Granted>(answer).token;
    return holds_in_child([&] { return is_empty_and_usable(store, "gate", of_child); }) &&
           store.release(of_child);
  }));
  EXPECT_TRUE(store.release(token));
}

TEST(AForkedMemoryStore, MayBeDestroyedInTheChild) {
  Store store = memory::make_store({}, Clock::system());
  const Token token = std::get<Granted>(store.admit(ask("gate", {1, 1}))).token;
  EXPECT_TRUE(holds_in_child([&] {
    store = {};
    return true;
  }));
  EXPECT_TRUE(store.release(token));
}

TEST(AForkedMemoryStore, TokensOfParentAndChildDoNotMeet) {
  const Store store = memory::make_store({}, Clock::system());
  const VisitorId visitor{1, 1};
  const Token token = std::get<Granted>(store.admit(ask("gate", visitor))).token;
  EXPECT_TRUE(holds_in_child([&] {
    const Answer answer = store.admit(ask("gate", visitor));
    const auto* granted = std::get_if<Granted>(&answer);
    return granted != nullptr && !granted->repeated;
  }));
  EXPECT_TRUE(std::get<Granted>(store.admit(ask("gate", visitor))).repeated);
  EXPECT_TRUE(store.release(token));
}

}  // namespace
}  // namespace airlock

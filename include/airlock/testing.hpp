#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/clock.hpp"
#include "airlock/error.hpp"
#include "airlock/export.hpp"
#include "airlock/store.hpp"

// For tests of code that uses airlock: time that is stepped, and a store that fails when told to.
//
//   ManualClock clock;
//   FaultyStore store(memory_store(clock));
//   Request ask{.gate = "erp", .visitor = VisitorId::random(), .permits = Permits{1, 1, 10s}};
//
//   Token token = std::get<Granted>(store.admit(ask)).token;
//   clock.advance(11s);                    // The lease runs out and nobody slept.
//   EXPECT_FALSE(store.release(token));
//
//   store.drop_reply_next(1);              // The step happens, its caller does not learn of it.
//   EXPECT_THROW((void)store.admit(ask), StoreError);
//   EXPECT_TRUE(std::get<Granted>(store.admit(ask)).repeated);

namespace airlock::testing {

// Stands still until it is told to move. Safe to use from any thread.
class AIRLOCK_EXPORT ManualClock final : public Clock {
 public:
  ~ManualClock() override;

  // Moves now() and wall() and wakes every wait whose deadline has come. Call it without the mutex
  // of such a wait.
  void advance(Duration duration);

  // The wall jumps, time goes on as before.
  void set_wall(Instant wall) noexcept { wall_ = wall; }

  // How many threads wait in wait_until() and have not been woken by advance(): what a test awaits
  // before it advances again.
  [[nodiscard]] std::size_t waiting() const;

  [[nodiscard]] Instant now() noexcept override { return now_; }
  [[nodiscard]] Instant wall() noexcept override { return wall_; }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override;

 private:
  struct Wait;

  bool wake_due();

  std::atomic<Instant> now_{std::chrono::seconds(1'000)};
  std::atomic<Instant> wall_{std::chrono::seconds(1'767'225'600)};  // 2026-01-01 00:00:00 UTC
  mutable std::mutex mutex_;
  std::vector<Wait*> waits_;
};

// A store like `memory:` whose time is the clock's. The clock must outlive it.
[[nodiscard]] AIRLOCK_EXPORT std::shared_ptr<Store> memory_store(ManualClock& clock);

// Passes every call on to another store, except where told to fail. Faults meet the steps that ask
// or change the store's state, never id, clock, recheck, collect, examine, watch and unwatch. Safe to
// use from any thread.
class AIRLOCK_EXPORT FaultyStore final : public Store {
 public:
  explicit FaultyStore(std::shared_ptr<Store> inner);
  ~FaultyStore() override;

  // The next so many steps throw without happening; these come before dropped replies.
  void fail_next(std::size_t steps, StoreError::Kind kind);

  // The next so many steps happen and then throw `unavailable` with the outcome unknown.
  void drop_reply_next(std::size_t steps);

  // While down every step throws `unavailable` without happening; what was planned above waits.
  void down(bool down);

  // From now on is_local() says no: leases are given back in the background.
  void act_remote() noexcept { is_remote_ = true; }

  // Ends a lease behind its holder's back. False: it was already gone.
  bool lose(const Token& token);

  // How many steps were asked, failed ones included: all of them, or those of one name such as
  // "renew".
  [[nodiscard]] std::size_t calls() const;
  [[nodiscard]] std::size_t calls(std::string_view step) const;

  using Store::pause;
  using Store::renew;
  using Store::resume;
  using Store::survey;

  bool is_local() const noexcept override;
  StoreId id() override;
  Clock& clock() noexcept override;
  Answer admit(const Request& request) override;
  GroupAnswer admit_all(std::span<const Request> requests) override;
  bool leave(const GateName& gate, const VisitorId& visitor) override;
  void refund(const Request& request) override;
  void renew(std::span<RenewItem> items) override;
  bool release(const Token& token) override;
  bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept override;
  bool disown(const Token& token) override;
  std::optional<Granted> adopt(const Token& token) override;
  bool holds(const Token& token) override;
  std::optional<GateView> look(const GateName& gate) override;
  std::vector<GateCounts> counts(std::span<const GateName> gates) override;
  std::vector<std::string> list() override;
  std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override;
  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override;
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override;
  bool resume(const GateName& gate, std::string_view reporter) override;
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override;
  bool purge(const GateName& gate) override;
  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override;
  void unwatch(const GateName& gate, const VisitorId& visitor) override;
  Recheck recheck() const noexcept override;
  void collect() override;
  std::vector<Finding> examine() override;

 private:
  enum class Reply { delivered, dropped };

  Reply begin(std::string_view step);
  template <typename Step>
  auto perform(std::string_view name, Step step);

  std::shared_ptr<Store> inner_;
  mutable std::mutex mutex_;
  std::atomic<bool> is_remote_ = false;
  bool down_ = false;
  std::size_t failures_ = 0;
  StoreError::Kind failure_kind_ = StoreError::Kind::unavailable;
  std::size_t dropped_replies_ = 0;
  std::map<std::string, std::size_t, std::less<>> calls_;
};

}  // namespace airlock::testing

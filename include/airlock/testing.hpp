#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "airlock/duration.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "airlock/token.hpp"
#include "airlock/version.hpp"

// For tests of code that uses airlock: time that is stepped, and a store that fails when told to. A
// library of its own: link airlock::testing.
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

namespace airlock {

class Clock;
namespace internal {
class SteppedClock;
}  // namespace internal
namespace testing {
class ManualClock;
}  // namespace testing
namespace internal {
[[nodiscard]] Clock& clock_of(testing::ManualClock& clock) noexcept;
}  // namespace internal

namespace testing {

// Stands still until it is told to move. Safe to use from any thread.
class AIRLOCK_EXPORT ManualClock {
 public:
  ManualClock();
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;
  ~ManualClock();

  // Moves now() and wall() and wakes every wait whose deadline has come.
  void advance(Duration duration);

  // The wall jumps, time goes on as before.
  void set_wall(Instant wall) noexcept;

  [[nodiscard]] Instant now() const noexcept;
  [[nodiscard]] Instant wall() const noexcept;

  // How many threads wait for a moment of this clock and have not been woken by advance(): what a
  // test awaits before it advances again.
  [[nodiscard]] std::size_t waiting() const;

 private:
  friend Clock& internal::clock_of(ManualClock& clock) noexcept;

  std::unique_ptr<internal::SteppedClock> clock_;
};

// A store like `memory:` whose time is the clock's. The clock must outlive it.
[[nodiscard]] AIRLOCK_EXPORT Store memory_store(ManualClock& clock);

// Passes every call on to another store, except where told to fail. Faults meet the steps that ask
// or change the store's state, never id, watch, unwatch, collect and examine. A handle as any Store:
// a copy of it, also as a plain Store, has the same faults. Safe to use from any thread.
class AIRLOCK_EXPORT FaultyStore : public Store {
 public:
  explicit FaultyStore(const Store& inner);

  // The next so many steps throw without happening; these come before dropped replies.
  void fail_next(std::size_t steps, StoreError::Kind kind) const;

  // The next so many steps happen and then throw `unavailable` with the outcome unknown.
  void drop_reply_next(std::size_t steps) const;

  // While down every step throws `unavailable` without happening; what was planned above waits.
  void down(bool down) const;

  // From now on it is like a store behind a network: leases are given back in the background.
  void act_remote() const noexcept;

  // Ends a lease behind its holder's back. False: it was already gone.
  [[nodiscard]] bool lose(const Token& token) const;

  // How many steps were asked, failed ones included: all of them, or those of one name such as
  // "renew".
  [[nodiscard]] std::size_t calls() const;
  [[nodiscard]] std::size_t calls(std::string_view step) const;

 private:
  class Faults;
  explicit FaultyStore(const std::shared_ptr<Faults>& faults);

  std::shared_ptr<Faults> faults_;
};

}  // namespace testing
}  // namespace airlock

#pragma once

#include <optional>
#include <span>

#include "airlock/store.hpp"
#include "store/backend.hpp"
#include "store/redis/identity.hpp"
#include "store/redis/step_runner.hpp"

namespace airlock::redis {

// What the holder of a lease does: renew it, give it back, hand it on. The steps are as Backend says.
class Leases {
 public:
  Leases(const Options& options, const StepCalls& calls, StepRunner& runner, Client& client,
         Identity& identity)
      : options_(options), calls_(calls), runner_(runner), client_(client), identity_(identity) {}

  void renew(std::span<RenewItem> items);
  void renew_within(std::span<RenewItem> items, Duration at_most);

  bool release(const Token& token);
  void release_all(std::span<internal::ReleaseItem> items) noexcept;
  bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept;

  // Before steps at these gates that go out as a batch: what is noted by release_soon().
  void release_noted(std::span<const GateName> gates);
  // What is left to the next step, when there is none.
  void release_at_last() noexcept;

  // Binds the lease to this process, or to none. Empty: it has ended.
  [[nodiscard]] std::optional<Granted> set_hold(const Token& token, Hold hold);
  [[nodiscard]] bool holds(const Token& token);

 private:
  void renew(std::span<RenewItem> items, const Deadline& deadline, const Deadline& settling);
  [[nodiscard]] Call renewal_of(const RenewItem& item, const Deadline& deadline) const;
  // The answer to one renewal of many. Returns whether there is more to settle at its gate.
  [[nodiscard]] bool take_in(RenewItem& item, const Reply& reply, const Deadline& deadline);
  // Whether it is left to others: it is over, foreign, or carried by a step of this process.
  [[nodiscard]] bool needs_no_call(internal::ReleaseItem& item, const Deadline& deadline);
  [[nodiscard]] bool take_in(internal::ReleaseItem& item, const Reply& reply,
                             const Deadline& deadline);

  const Options& options_;
  const StepCalls& calls_;
  StepRunner& runner_;
  Client& client_;
  Identity& identity_;
};

}  // namespace airlock::redis

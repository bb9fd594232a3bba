#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "airlock/version.hpp"

// Failures. A refusal ("full", "rate") is never one of these: it is an answer (outcome.hpp).
//
//   Error
//     InvalidArgument     the call is wrong; nothing happened. Fix the call.
//     StoreError          the store could not do its step; `outcome`: whether it may have happened.
//       SealAcquiringError  so nobody got in; retry, or apply the outage policy.
//     SealReleasingError  what was to be given back is gone, or the store failed. Go on.
//     LeaseExpiredError   the lease is gone and cannot be renewed. Stop the work.
//     BadOutcomeAccess    value() of a refusal (outcome.hpp). Fix the program.
//
// Texts name the value and the rule; they never contain tokens, visitors or passwords.

namespace airlock {

class AIRLOCK_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

class AIRLOCK_EXPORT InvalidArgument : public Error {
 public:
  using Error::Error;
  ~InvalidArgument() override;
};

class AIRLOCK_EXPORT StoreError : public Error {
 public:
  enum class Kind {
    unavailable,   // Not reachable, or no answer within the deadline. Retry later.
    busy,          // Reachable, but occupied until the deadline. Retry.
    no_room,       // No memory, thread or descriptor is left. Existing holders are unaffected.
    closed,        // close() was called.
    incompatible,  // Another version, another kind of data, a missing right. An operator must act.
  };
  enum class Outcome { nothing_happened, unknown };  // Unknown: ask again with the same visitor.

  StoreError(Kind kind, Outcome outcome, const std::string& what)
      : Error(what), kind_(kind), outcome_(outcome) {}
  ~StoreError() override;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

 private:
  Kind kind_;
  Outcome outcome_;
};

[[nodiscard]] constexpr const char* to_text(StoreError::Kind kind) noexcept {
  constexpr const char* kTexts[] = {"unavailable", "busy", "no_room", "closed", "incompatible"};
  return kTexts[static_cast<std::size_t>(kind)];
}

class AIRLOCK_EXPORT SealAcquiringError : public StoreError {
 public:
  using StoreError::StoreError;
  ~SealAcquiringError() override;
};

class AIRLOCK_EXPORT SealReleasingError : public Error {
 public:
  using Error::Error;
  ~SealReleasingError() override;
};

class AIRLOCK_EXPORT LeaseExpiredError : public Error {
 public:
  using Error::Error;
  ~LeaseExpiredError() override;
};

}  // namespace airlock

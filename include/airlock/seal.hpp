#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "airlock/token.hpp"
#include "airlock/version.hpp"

// Seals: the primitives that never wait. `try_acquire()` is one question: in, or the refusal and
// when to come back.
//
//   Seal          RateLimiterSeal, CooldownSeal            nothing to release: time gives it back
//   LockingSeal   LockSeal, SemaphoreSeal, CompositeSeal   lasts until released or its ttl ends
//   MultiSeal     GroupSeal, ChainedSeal                   the same at several gates
//
// Take a Seal or a LockingSeal by reference where any will do; a test can pass one of its own.
//
// A seal is a small value that never changes: copy it, make another where it is needed, use it from
// any thread. Seals of one gate in one store guard the same thing, whoever made them. An admission
// is detached: it ends with its ttl and not with this process, and its token may travel.
//
// What they throw: InvalidArgument for a wrong configuration, when the seal is made;
// SealAcquiringError and SealReleasingError with the StoreError nested in it where the store
// failed. A full gate is never an exception.

namespace airlock {

// How long an admission lasts unless a seal is told otherwise.
inline constexpr Duration kSealTtl = std::chrono::seconds(300);

// Who asks. The same id again finds the first answer: the same token and no second slot. If an
// answer got lost (SealAcquiringError over StoreError::Outcome::unknown), asking again with the
// same id finds out. Without an id nobody can ask again, and what was perhaps taken is given back.
struct Visitor {
  std::optional<VisitorId> id = {};  // Empty: a random one.
  std::string_view label = {};       // What operators see. Empty: `host:pid comm`.
};

// What is granted for a time.
struct Admission : Granted {
  // Until then nobody else has it, by the store's clock and as far as one can know without asking:
  // counted from before the question was sent, less a hundredth and at least 10 ms. An operator may
  // still have ended it.
  Instant deadline{0};
};

// Anything that lets in or refuses.
class AIRLOCK_EXPORT Seal {
 public:
  virtual ~Seal();

  // In, or the refusal. SealAcquiringError if the store failed.
  [[nodiscard]] virtual Outcome<Admission> try_acquire(const Visitor& who) const = 0;
  [[nodiscard]] Outcome<Admission> try_acquire() const { return try_acquire(Visitor{}); }

 protected:
  Seal() = default;
  Seal(const Seal&) = default;
  Seal& operator=(const Seal&) = default;
};

// A seal whose admissions are released and renewed.
class AIRLOCK_EXPORT LockingSeal : public Seal {
 public:
  ~LockingSeal() override;

  // Gives back, from wherever the token has come to. SealReleasingError if it was already gone, if
  // it is of another gate or store (which is then not asked), or if the store failed. Nobody else's
  // admission is touched.
  virtual void release(const Token& token) const = 0;

  // Lasts `ttl` from now, else as long as the seal is configured. LeaseExpiredError if it is gone,
  // revoked, or of another gate or store: stop the work. StoreError says nothing of the kind: try
  // again; the deadline allows for both outcomes.
  virtual void renew(Admission& held, std::optional<AnyDuration> ttl) const = 0;
  void renew(Admission& held) const { renew(held, {}); }
  Admission renew(const Token& token, std::optional<AnyDuration> ttl = {}) const;

  // Asks the store whether this very admission is live. StoreError if it cannot say.
  [[nodiscard]] virtual bool is_acquired(const Token& token) const = 0;

  // A clock read. Expired a little early rather than late.
  [[nodiscard]] virtual Duration remaining_lifetime(const Admission& held) const noexcept = 0;
  [[nodiscard]] bool is_expired(const Admission& held) const noexcept {
    return remaining_lifetime(held) == Duration(0);
  }

 protected:
  LockingSeal() = default;
  LockingSeal(const LockingSeal&) = default;
  LockingSeal& operator=(const LockingSeal&) = default;
};

// A gate and what a seal asks of it: any seal as a part of a MultiSeal.
class AIRLOCK_EXPORT GateSeal {
 public:
  [[nodiscard]] const Store& store() const noexcept { return store_; }
  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }

 protected:
  struct Terms {
    std::optional<Permits> permits = {};
    std::vector<Rate> rates = {};
    Duration dedupe{0};
    bool releasable = false;  // Can be released and renewed.
  };

  GateSeal(const Store& store, const GateName& gate, Terms terms);

  [[nodiscard]] const Terms& terms() const noexcept { return terms_; }
  [[nodiscard]] internal::Backend& backend() const;
  [[nodiscard]] bool is_own(const Token& token) const;

  // The question. Refers to this seal and to the label.
  [[nodiscard]] Request request(const Visitor& who, std::uint32_t cost = 1) const;

 private:
  friend class CompositeSeal;
  friend class MultiSeal;
  friend class GroupSeal;
  friend class ChainedSeal;

  Store store_;
  GateName gate_;
  Terms terms_;
};

// A LockingSeal of one gate.
class AIRLOCK_EXPORT GateLockingSeal : public LockingSeal, public GateSeal {
 public:
  [[nodiscard]] Duration ttl() const noexcept { return terms().permits->ttl; }

  using LockingSeal::renew;
  using Seal::try_acquire;
  [[nodiscard]] Outcome<Admission> try_acquire(const Visitor& who) const override;
  void release(const Token& token) const override;
  void renew(Admission& held, std::optional<AnyDuration> ttl) const override;
  [[nodiscard]] bool is_acquired(const Token& token) const override;
  [[nodiscard]] Duration remaining_lifetime(const Admission& held) const noexcept override;

 protected:
  using GateSeal::GateSeal;
};

}  // namespace airlock

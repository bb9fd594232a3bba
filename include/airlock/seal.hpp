#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "airlock/answer.hpp"
#include "airlock/clock.hpp"
#include "airlock/duration.hpp"
#include "airlock/export.hpp"
#include "airlock/name.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "airlock/token.hpp"
#include "airlock/visitor.hpp"

// Seals: the primitives that never wait. `try_acquire()` is one question: in, or the refusal and
// when to come back.
//
//   LockingSeal   LockSeal, SemaphoreSeal, CompositeSeal   lasts until released or its ttl ends
//   JointSeal     GroupSeal, ChainedSeal                   the same at several gates
//   neither       RateLimiterSeal, CooldownSeal            nothing to release: time gives it back
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

// A gate and what to ask of it: what all seals have in common, and any seal as a part of a joint
// one.
class AIRLOCK_EXPORT Seal {
 public:
  [[nodiscard]] const std::shared_ptr<Store>& store() const noexcept { return store_; }
  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }

 protected:
  struct Terms {
    std::optional<Permits> permits = {};
    std::vector<Rate> rates = {};
    Duration dedupe{0};
    bool lasting = false;  // Can be released and renewed.
  };

  Seal(std::shared_ptr<Store> store, const GateName& gate, Terms terms);
  Seal(Seal base, const std::vector<Rate>& more_rates);

  [[nodiscard]] const Terms& terms() const noexcept { return terms_; }
  [[nodiscard]] bool is_own(const Token& token) const;

  // The question. Refers to this seal and to the label.
  [[nodiscard]] Request request(const Visitor& who, std::uint32_t cost = 1) const;

 private:
  friend class JointSeal;
  friend class GroupSeal;
  friend class ChainedSeal;

  std::shared_ptr<Store> store_;
  GateName gate_;
  Terms terms_;
};

// What can be released and renewed. Take this by reference to say so.
class AIRLOCK_EXPORT LockingSeal : public Seal {
 public:
  [[nodiscard]] Duration ttl() const noexcept { return terms().permits->ttl; }

  // Gives back, from wherever the token has come to. SealReleasingError if it was already gone, if
  // it is of another gate or store (which is then not asked), or if the store failed. Nobody else's
  // admission is touched.
  void release(const Token& token) const;

  // Lasts `ttl` from now, else as long as the seal is configured. LeaseExpiredError if it is gone,
  // revoked, or of another gate or store: stop the work. StoreError says nothing of the kind: try
  // again; the deadline allows for both outcomes.
  void renew(Admission& held, std::optional<Duration> ttl = {}) const;
  Admission renew(const Token& token, std::optional<Duration> ttl = {}) const;

  // Asks the store whether this very admission is live. StoreError if it cannot say.
  [[nodiscard]] bool is_acquired(const Token& token) const;

  // A clock read. Expired a little early rather than late.
  [[nodiscard]] bool is_expired(const Admission& held) const noexcept;
  [[nodiscard]] Duration remaining_lifetime(const Admission& held) const noexcept;

 protected:
  using Seal::Seal;
};

}  // namespace airlock

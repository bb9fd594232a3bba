#pragma once

#include <optional>
#include <span>

#include "airlock/error.hpp"
#include "airlock/outcome.hpp"
#include "airlock/seal.hpp"
#include "store/backend.hpp"

// The steps of a store as seals answer for them: refusals are values, failures their exceptions.

namespace airlock::seal {

// What was granted, with its deadline; `sent` is the moment before the question left.
[[nodiscard]] Admission admission(const Granted& granted, Instant sent) noexcept;

// Until when an admission that `lasts` from an answer on is safe to use, and how much later the
// store ends it at least.
[[nodiscard]] Instant deadline(Instant sent, Duration lasts) noexcept;
[[nodiscard]] Duration margin(Duration lasts) noexcept;

// InvalidArgument for a ttl with which no lease would ever be valid by its deadline.
void check_lease_ttl(const char* name, Duration ttl);

// SealAcquiringError over the StoreError that is being handled.
[[noreturn]] void throw_not_asked(const GateName& gate, const StoreError& cause);

// SealAcquiringError over the StoreError that is being handled: refused at a gate, and what was taken
// before could not be given back.
[[noreturn]] void throw_not_undone(const GateName& refused_at, const StoreError& cause);
[[noreturn]] void throw_not_undone(const GateName& refused_at, const SealReleasingError& cause);

// A lock, and how the tightest tier of the other seal stands.
[[nodiscard]] Admission with_rate_of(Admission lock, const Admission& other) noexcept;

// The same visitor for several questions: with a random id if it has none.
[[nodiscard]] Visitor with_id(const Visitor& who);

// SealAcquiringError over the StoreError. If the outcome is unknown, what a visitor without an id
// has perhaps taken is given back: nobody else can.
[[nodiscard]] Outcome<Admission> ask(internal::Backend& store, const Request& request,
                                     const Visitor& who);
[[nodiscard]] Outcome<std::vector<Admission>> ask_all(internal::Backend& store,
                                                      std::span<const Request> requests,
                                                      const Visitor& who);

// SealReleasingError if it was gone, if it is of another gate or store (which is then not asked),
// or over the StoreError.
void give_back(internal::Backend& store, const GateName& gate, const Token& token);

// Renews all in one call and brings the admissions up to date; false if a weight does not fit.
// LeaseExpiredError for one that cannot be renewed, when the others have been.
struct Extension {
  Admission* held;
  Duration ttl;
  std::optional<std::uint32_t> weight = {};
};
bool extend(internal::Backend& store, std::span<const Extension> extensions);

// Whether it was thrown over a StoreError: the store may still have it.
[[nodiscard]] bool is_store_failure(const SealReleasingError& error);

[[noreturn]] void throw_foreign_renewal(const GateName& gate);

}  // namespace airlock::seal

#include "seal/steps.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/quote.hpp"

namespace airlock::seal {
namespace {

constexpr Duration kLeastMargin = std::chrono::milliseconds(10);

std::string about(const GateName& gate, const std::string& text) {
  return "gate " + base::quoted(gate.view()) + ": " + text;
}

// A seal does not join a line, but a visitor may stand in one all the same.
Refused refusal(const Queued& queued) {
  return {.reason = Reason::full, .retry_after = queued.next_check, .rate = queued.rate};
}

Refused refusal(const Refused& refused) { return refused; }
Refused refusal(std::monostate /*none*/) { return {}; }

// Perhaps they were renewed, and for less than was left.
void allow_for(std::span<const Extension> extensions, Instant sent) {
  for (const auto& [held, ttl, weight] : extensions) {
    held->deadline = std::min(held->deadline, deadline(sent, ttl));
  }
}

[[noreturn]] void throw_expired(const GateName& gate, Renewal why) {
  throw LeaseExpiredError(about(gate, why == Renewal::revoked
                                          ? "an operator revoked the admission; stop the work"
                                          : "the admission has ended; stop the work"));
}

// At once where that takes no time, else with the next step of the store.
void give_up(internal::Backend& store, std::span<const Request> requests, const StoreError& error) {
  if (error.outcome() != StoreError::Outcome::unknown) return;
  for (const Request& request : requests) {
    if (!request.permits) continue;
    internal::ReleaseItem item{
        .token = {.store = 0, .gate = request.gate, .visitor = request.visitor}};
    if (store.is_local()) {
      store.release_all({&item, 1});
    } else {
      const Instant until = saturating_add(store.clock().now(), request.permits->ttl);
      (void)store.release_soon(item.token, until, true);
    }
  }
}

}  // namespace

Duration margin(Duration lasts) noexcept { return std::max(kLeastMargin, lasts / 100); }

Instant deadline(Instant sent, Duration lasts) noexcept { return sent + lasts - margin(lasts); }

void check_lease_ttl(const char* name, Duration ttl) {
  if (ttl > kLeastMargin || ttl <= Duration(0)) return;  // The store checks the rest.
  throw InvalidArgument(
      std::string(name) + " " + to_text(ttl) + ": more than " + to_text(kLeastMargin) +
      " is needed, because a lease ends that much earlier for its holder than in the store");
}

void throw_not_asked(const GateName& gate, const StoreError& cause) {
  std::throw_with_nested(SealAcquiringError(
      cause.kind(), cause.outcome(),
      about(gate, std::string("no decision: the store failed: ") + cause.what())));
}

namespace {

[[noreturn]] void throw_kept(const GateName& refused_at, StoreError::Kind kind,
                             StoreError::Outcome outcome, const char* why) {
  std::throw_with_nested(SealAcquiringError(
      kind, outcome,
      about(refused_at,
            std::string("refused, and some of what was acquired before could not be released: ") +
                why)));
}

}  // namespace

void throw_not_undone(const GateName& refused_at, const StoreError& cause) {
  throw_kept(refused_at, cause.kind(), cause.outcome(), cause.what());
}

void throw_not_undone(const GateName& refused_at, const SealReleasingError& cause) {
  try {
    std::rethrow_if_nested(cause);
  } catch (const StoreError& error) {
    throw_kept(refused_at, error.kind(), error.outcome(), cause.what());
  }
  throw_kept(refused_at, StoreError::Kind::unavailable, StoreError::Outcome::unknown, cause.what());
}

Admission with_rate_of(Admission lock, const Admission& other) noexcept {
  lock.rate = other.rate;
  lock.taken = other.taken;
  return lock;
}

Admission admission(const Granted& granted, Instant sent) noexcept {
  return {granted, deadline(sent, granted.expires_in)};
}

Visitor with_id(const Visitor& who) {
  return {.id = who.id ? *who.id : VisitorId::random(), .label = who.label};
}

Outcome<Admission> ask(internal::Backend& store, const Request& request, const Visitor& who) try {
  const Instant sent = store.clock().now();
  const Answer answer = store.admit(request);
  if (const auto* granted = std::get_if<Granted>(&answer)) return admission(*granted, sent);
  if (const auto* queued = std::get_if<Queued>(&answer)) return refusal(*queued);
  return std::get<Refused>(answer);
} catch (const StoreError& error) {
  if (!who.id) give_up(store, {&request, 1}, error);
  throw_not_asked(request.gate, error);
}

Outcome<std::vector<Admission>> ask_all(internal::Backend& store, std::span<const Request> requests,
                                        const Visitor& who) try {
  const Instant sent = store.clock().now();
  const GroupAnswer answer = store.admit_all(requests);
  if (!answer) {
    Refused refused = std::visit([](const auto& why) { return refusal(why); }, answer.because);
    refused.at = answer.at;
    return refused;
  }
  std::vector<Admission> held;
  for (const Granted& granted : answer.granted) held.push_back(admission(granted, sent));
  return held;
} catch (const StoreError& error) {
  if (!who.id) give_up(store, requests, error);
  throw_not_asked(requests.front().gate, error);
}

void give_back(internal::Backend& store, const GateName& gate, const Token& token) try {
  if (token.gate != gate || token.store != store.id()) {
    throw SealReleasingError(
        about(gate, "nothing released: the token belongs to another gate or store"));
  }
  if (!store.release(token)) {
    throw SealReleasingError(about(gate, "nothing released: the admission had already ended"));
  }
} catch (const StoreError& error) {
  std::throw_with_nested(SealReleasingError(
      about(gate, std::string("possibly not released: the store failed: ") + error.what())));
}

bool extend(internal::Backend& store, std::span<const Extension> extensions) {
  std::vector<RenewItem> items;
  for (const auto& [held, ttl, weight] : extensions) items.push_back({held->token, ttl, weight});
  const Instant sent = store.clock().now();
  try {
    store.renew(items);
  } catch (const StoreError& error) {
    if (error.outcome() == StoreError::Outcome::unknown) allow_for(extensions, sent);
    throw;
  }

  const RenewItem* expired = nullptr;
  bool room = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [held, ttl, weight] = extensions[i];
    const Renewal result = items[i].result;
    if (result == Renewal::renewed) {
      held->expires_in = ttl;
      held->deadline = deadline(sent, ttl);
    }
    if (result == Renewal::no_room) room = false;
    if (result == Renewal::gone || result == Renewal::revoked) expired = &items[i];
  }
  if (expired != nullptr) throw_expired(expired->token.gate, expired->result);
  return room;
}

bool is_store_failure(const SealReleasingError& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const StoreError&) {
    return true;
  } catch (...) {  // NOLINT(bugprone-empty-catch): of another kind
  }
  return false;
}

void throw_foreign_renewal(const GateName& gate) {
  throw LeaseExpiredError(
      about(gate, "nothing renewed: the token belongs to another gate or store"));
}

}  // namespace airlock::seal

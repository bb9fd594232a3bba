#include "airlock/lease.hpp"

#include <utility>

#include "admission/keeper.hpp"
#include "airlock/error.hpp"
#include "base/per_process.hpp"
#include "base/quote.hpp"
#include "seal/steps.hpp"

namespace airlock {
namespace {

struct Forget {
  internal::Keeper& keeper;
  void operator()(internal::Held* held) const noexcept { keeper.forget(held); }
};

// The store has ended it by itself, if nobody gave it back before.
Instant store_end_of(const internal::Held& held) noexcept {
  return saturating_add(held.deadline, seal::margin(held.terms.ttl));
}

[[noreturn]] void throw_ended(const GateName& gate) {
  throw LeaseExpiredError("gate " + base::quoted(gate.view()) + ": the admission has ended");
}

}  // namespace

Lease::Lease(std::shared_ptr<internal::Keeper> keeper, internal::Held* held) noexcept
    : keeper_(std::move(keeper)), held_(held) {}

Lease::Lease(Lease&& other) noexcept
    : keeper_(std::move(other.keeper_)), held_(std::exchange(other.held_, nullptr)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  Lease moved(std::move(other));
  std::swap(keeper_, moved.keeper_);
  std::swap(held_, moved.held_);
  return *this;
}

bool Lease::is_own() const noexcept { return held_ != nullptr && keeper_->is_own(); }

Lease::operator bool() const noexcept { return is_own(); }

Lease::~Lease() {
  if (held_ == nullptr) return;
  if (!keeper_->is_own()) {
    abandon();
    return;
  }
  keeper_->end(*held_);
  give_back();
  keeper_->forget(held_);
}

// At once where that is safe in a destructor, else in the background.
void Lease::give_back() noexcept {
  if (held_->token.fence == 0) return;
  if (keeper_->store().is_local()) {
    try {
      keeper_->store().release(held_->token);
      return;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): tried again below
    }
  }
  keeper_->release_later(held_->token, store_end_of(*held_));
}

// What a forked child inherits belongs to its parent: not even the count is touched.
void Lease::abandon() noexcept {
  base::leave_alone(new std::shared_ptr<internal::Keeper>(std::move(keeper_)));
  held_ = nullptr;
}

Lease Lease::adopt(const Store& store, const Token& token, AnyDuration ttl) {
  seal::check_lease_ttl("ttl", ttl);
  const auto& backend = internal::backend_of(store);
  const Instant sent = backend->clock().now();
  const bool renewed = store.renew(token, ttl) == Renewal::renewed;
  std::optional<Granted> granted = renewed ? backend->adopt(token) : std::nullopt;
  if (!granted) throw_ended(token.gate);
  granted->expires_in = ttl;
  try {
    return internal::Keeper::of(backend)->keep(*granted, sent, {.ttl = ttl});
  } catch (const StoreError&) {
    backend->disown(token);
    throw;
  }
}

Token Lease::token() const {
  if (!is_own()) throw InvalidArgument("an empty lease has no token");
  return held_->token;
}

Fence Lease::fence() const noexcept { return guarded() ? held_->token.fence : 0; }
Slot Lease::slot() const noexcept { return is_own() ? held_->slot : std::nullopt; }
bool Lease::guarded() const noexcept { return is_own() && held_->terms.guarded; }

Duration Lease::remaining() const noexcept {
  if (!is_own() || held_->is_lost.load(std::memory_order_relaxed)) return Duration(0);
  const Instant deadline = held_->deadline.load(std::memory_order_relaxed);
  if (deadline == kForever) return kForever;
  const Instant now = keeper_->clock().now();
  if (now < deadline) return deadline - now;
  held_->is_lost = true;  // A renewal that comes too late does not bring it back.
  return Duration(0);
}

bool Lease::valid() const noexcept { return remaining() > Duration(0); }

std::stop_token Lease::lost() const { return is_own() ? keeper_->lost(*held_) : std::stop_token(); }

void Lease::release() {
  if (!is_own()) return;
  keeper_->end(*held_);
  // Counts until the end of this function, whatever that is.
  const std::shared_ptr<internal::Keeper> keeper = std::move(keeper_);
  const std::unique_ptr<internal::Held, Forget> held(std::exchange(held_, nullptr), {*keeper});
  if (held->token.fence == 0) return;
  try {
    seal::give_back(keeper->store(), held->token.gate, held->token);
  } catch (const SealReleasingError& error) {
    if (seal::is_store_failure(error)) keeper->release_later(held->token, store_end_of(*held));
    throw;
  }
}

Token Lease::detach() {
  if (!is_own() || held_->token.fence == 0) throw LeaseExpiredError("nothing to detach");
  const Token token = held_->token;
  if (!keeper_->store().disown(token)) throw_ended(token.gate);
  keeper_->end(*held_);
  keeper_->forget(std::exchange(held_, nullptr));
  keeper_.reset();
  return token;
}

}  // namespace airlock

#include "airlock/error.hpp"
#include "internal.hpp"
#include "mailbox.hpp"

using airlock::Duration;
using airlock::c::duration_of;
using airlock::c::duration_or;
using airlock::c::made;
using airlock::c::needed;
using airlock::c::run;
using airlock::c::token_of;

airlock_lease::airlock_lease() noexcept = default;
airlock_lease::airlock_lease(airlock::Lease held) noexcept : lease(std::move(held)) {}
airlock_lease::~airlock_lease() { watches.clear(); }

void airlock_lease_free(airlock_lease* lease) { delete lease; }

std::int32_t airlock_lease_release(airlock_lease* lease, airlock_error* error) {
  return run(error, [&] {
    auto& held = needed(lease, "lease");
    held.watches.clear();
    held.lease.release();
    return AIRLOCK_DONE;
  });
}

// --- What it is ---

std::int32_t airlock_lease_valid(const airlock_lease* lease) {
  return lease != nullptr && lease->lease.valid() ? 1 : 0;
}

std::int64_t airlock_lease_remaining(const airlock_lease* lease) {
  return lease != nullptr ? lease->lease.remaining().count() : 0;
}

std::uint64_t airlock_lease_fence(const airlock_lease* lease) {
  return lease != nullptr ? lease->lease.fence() : 0;
}

std::int64_t airlock_lease_slot(const airlock_lease* lease) {
  return lease != nullptr ? airlock::c::slot_of(lease->lease.slot()) : -1;
}

std::int32_t airlock_lease_guarded(const airlock_lease* lease) {
  return lease != nullptr && lease->lease.guarded() ? 1 : 0;
}

namespace {

using TokenText = char[AIRLOCK_TOKEN_SIZE];

TokenText& token_text(char* token) {
  (void)needed(token, "token");
  *token = '\0';
  return *reinterpret_cast<TokenText*>(token);
}

}  // namespace

std::int32_t airlock_lease_token(const airlock_lease* lease, char token[AIRLOCK_TOKEN_SIZE],
                                 airlock_error* error) {
  return run(error, [&] {
    auto& text = token_text(token);
    const auto& held = needed(lease, "lease").lease;
    if (held.fence() == 0) return AIRLOCK_NOTHING;
    airlock::c::write_token(text, held.token());
    return AIRLOCK_DONE;
  });
}

// --- Changing hands ---

std::int32_t airlock_lease_detach(airlock_lease* lease, char token[AIRLOCK_TOKEN_SIZE],
                                  airlock_error* error) {
  return run(error, [&] {
    auto& text = token_text(token);
    auto& held = needed(lease, "lease");
    if (held.lease.fence() == 0) return AIRLOCK_GONE;  // Nothing that could travel.
    const airlock::Token detached = held.lease.detach();
    held.watches.clear();
    airlock::c::write_token(text, detached);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_lease_adopt(const airlock_store* store, airlock_text token, std::int64_t ttl,
                                 airlock_lease** lease, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(lease, "lease");
    const auto& opened = needed(store, "store").store;
    const Duration lasts = duration_or(ttl, "ttl", std::chrono::seconds(30));
    const airlock::Token detached = token_of(token);
    auto adopted = std::make_unique<airlock_lease>();
    adopted->lease = airlock::Lease::adopt(opened, detached, lasts);
    handle = adopted.release();
    return AIRLOCK_DONE;
  });
}

// --- Tokens ---

std::int32_t airlock_token_renew(const airlock_store* store, airlock_text token, std::int64_t ttl,
                                 airlock_error* error) {
  return run(error, [&] {
    const auto& opened = needed(store, "store").store;
    switch (opened.renew(token_of(token), duration_of(ttl, "ttl"))) {
      case airlock::Renewal::renewed:
        return AIRLOCK_DONE;
      case airlock::Renewal::unknown:
        throw airlock::StoreError(airlock::StoreError::Kind::unavailable,
                                  airlock::StoreError::Outcome::unknown,
                                  "not known to be renewed: the store did not answer");
      default:
        return AIRLOCK_GONE;
    }
  });
}

std::int32_t airlock_token_release(const airlock_store* store, airlock_text token,
                                   airlock_error* error) {
  return run(error, [&] {
    const bool released = needed(store, "store").store.release(token_of(token));
    return released ? AIRLOCK_DONE : AIRLOCK_GONE;
  });
}

std::int32_t airlock_token_holds(const airlock_store* store, airlock_text token,
                                 airlock_error* error) {
  return run(error, [&] {
    const bool holds = needed(store, "store").store.holds(token_of(token));
    return holds ? AIRLOCK_DONE : AIRLOCK_GONE;
  });
}

#include <type_traits>

#include "internal.hpp"

using airlock::Admission;
using airlock::Duration;
using airlock::InvalidArgument;
using airlock::Outcome;
using airlock::Token;
using airlock::Visitor;
using airlock::c::AnySeal;
using airlock::c::duration_of;
using airlock::c::duration_or;
using airlock::c::give;
using airlock::c::made;
using airlock::c::needed;
using airlock::c::one_if_0;
using airlock::c::options_of;
using airlock::c::rates_of;
using airlock::c::run;
using airlock::c::text_of;

// --- Making ---

namespace {

template <typename Seal>
airlock_seal* handle_of(Seal seal) {
  const airlock::Store store = seal.store();
  const airlock::GateName gate = seal.gate();
  return new airlock_seal{std::move(seal), store, gate};
}

// NULL for a seal that grants nothing to release.
const airlock::LockingSeal* locking(const AnySeal& seal) {
  return std::visit(
      [](const auto& one) -> const airlock::LockingSeal* {
        if constexpr (std::is_base_of_v<airlock::LockingSeal, std::decay_t<decltype(one)>>) {
          return &one;
        } else {
          return nullptr;
        }
      },
      seal);
}

const airlock::LockingSeal& locking(const airlock_seal* seal) {
  const auto* const lock = locking(needed(seal, "seal").seal);
  if (lock == nullptr) throw InvalidArgument("what this seal grants is not released or renewed");
  return *lock;
}

// Of this seal, or InvalidArgument.
Token own_token(const airlock_seal& seal, airlock_text text) {
  Token token = airlock::c::token_of(text);
  if (token.gate != seal.gate || token.store != seal.store.id()) {
    throw InvalidArgument("the token belongs to another gate or store");
  }
  return token;
}

template <typename Seal>
constexpr bool kIsLock =
    std::is_same_v<Seal, airlock::LockSeal> || std::is_same_v<Seal, airlock::SemaphoreSeal>;

airlock::CompositeSeal composite_of(const AnySeal& lock, const AnySeal& other) {
  return std::visit(
      [](const auto& first, const auto& second) -> airlock::CompositeSeal {
        using First = std::decay_t<decltype(first)>;
        using Second = std::decay_t<decltype(second)>;
        if constexpr (!kIsLock<First>) {
          throw InvalidArgument("the first part is neither a lock nor a semaphore");
        } else if constexpr (std::is_base_of_v<airlock::LockingSeal, Second>) {
          throw InvalidArgument("the second part must be a seal that grants nothing to release");
        } else {
          return airlock::CompositeSeal(first, second);
        }
      },
      lock, other);
}

}  // namespace

std::int32_t airlock_seal_lock(const airlock_store* store, airlock_text gate, std::int64_t ttl,
                               airlock_seal** seal, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(seal, "seal");
    const auto& opened = needed(store, "store").store;
    const airlock::LockOptions options{.ttl = duration_or(ttl, "ttl", airlock::kSealTtl)};
    handle = handle_of(airlock::LockSeal(opened, text_of(gate, "gate"), options));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_seal_semaphore(const airlock_store* store, airlock_text gate,
                                    std::uint32_t limit, std::uint32_t weight, std::int64_t ttl,
                                    airlock_seal** seal, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(seal, "seal");
    const auto& opened = needed(store, "store").store;
    const airlock::SemaphoreOptions options{.limit = limit,
                                            .weight = one_if_0(weight),
                                            .ttl = duration_or(ttl, "ttl", airlock::kSealTtl)};
    handle = handle_of(airlock::SemaphoreSeal(opened, text_of(gate, "gate"), options));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_seal_cooldown(const airlock_store* store, airlock_text gate,
                                   std::int64_t period, airlock_seal** seal, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(seal, "seal");
    const auto& opened = needed(store, "store").store;
    const Duration once = duration_of(period, "period");
    handle = handle_of(airlock::CooldownSeal(opened, text_of(gate, "gate"), once));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_seal_rates(const airlock_store* store, airlock_text gate,
                                const airlock_rate* rates, std::size_t rate_count,
                                std::int64_t dedupe, airlock_seal** seal, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(seal, "seal");
    const auto& opened = needed(store, "store").store;
    handle = handle_of(airlock::RateLimiterSeal(
        opened, text_of(gate, "gate"), rates_of(rates, rate_count), duration_of(dedupe, "dedupe")));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_seal_composite(const airlock_seal* lock, const airlock_seal* other,
                                    airlock_seal** seal, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(seal, "seal");
    const auto& first = needed(lock, "lock");
    handle = new airlock_seal{composite_of(first.seal, needed(other, "other").seal), first.store,
                              first.gate};
    return AIRLOCK_DONE;
  });
}

void airlock_seal_free(airlock_seal* seal) { delete seal; }

std::int32_t airlock_seal_is_locking(const airlock_seal* seal) {
  return seal != nullptr && locking(seal->seal) != nullptr ? 1 : 0;
}

std::int32_t airlock_seal_is_atomic(const airlock_seal* seal) {
  if (seal == nullptr) return 0;
  const auto* const composite = std::get_if<airlock::CompositeSeal>(&seal->seal);
  return composite == nullptr || composite->is_atomic() ? 1 : 0;
}

// --- Asking ---

namespace {

template <typename Seal>
constexpr bool kHasCost =
    std::is_same_v<Seal, airlock::RateLimiterSeal> || std::is_same_v<Seal, airlock::CompositeSeal>;

Outcome<Admission> try_acquire(const AnySeal& seal, std::uint32_t cost, const Visitor& who) {
  return std::visit(
      [&](const auto& one) -> Outcome<Admission> {
        if constexpr (kHasCost<std::decay_t<decltype(one)>>) {
          return one.try_acquire(cost, who);
        } else {
          if (cost != 1) throw InvalidArgument("ask.cost: this seal has no rates");
          return one.try_acquire(who);
        }
      },
      seal);
}

airlock_answer answer_of(const Admission& held, bool with_token) {
  airlock_answer answer = airlock::c::answer_of(held, with_token);
  answer.deadline = held.deadline.count();
  return answer;
}

std::int32_t tell(const Outcome<Admission>& outcome, bool with_token, airlock_answer* answer) {
  if (!outcome) {
    give(answer, airlock::c::answer_of(outcome.error()));
    return AIRLOCK_REFUSED;
  }
  give(answer, answer_of(*outcome, with_token));
  return AIRLOCK_DONE;
}

}  // namespace

std::int32_t airlock_seal_try(const airlock_seal* seal, const airlock_seal_ask* ask,
                              airlock_answer* answer, airlock_error* error) {
  return run(error, [&] {
    airlock::c::clear(&needed(answer, "answer"), "answer");
    const AnySeal& asked = needed(seal, "seal").seal;
    const auto given = options_of(ask, "ask");
    Visitor who{.label = text_of(given.label, "ask.label")};
    if (given.visitor != nullptr) who.id = airlock::c::visitor_of(*given.visitor);
    return tell(try_acquire(asked, one_if_0(given.cost), who), locking(asked) != nullptr, answer);
  });
}

std::int32_t airlock_seal_take(const airlock_seal* rates, std::int32_t mode, std::uint32_t cost,
                               std::int64_t max_delay, airlock_answer* answer,
                               airlock_error* error) {
  return run(error, [&] {
    airlock::c::clear(&needed(answer, "answer"), "answer");
    const auto* const limiter = std::get_if<airlock::RateLimiterSeal>(&needed(rates, "rates").seal);
    if (limiter == nullptr) throw InvalidArgument("this seal has no rates");
    const Duration delay = duration_of(max_delay, "max_delay");
    if (mode != AIRLOCK_RESERVE && delay != Duration(0)) {
      throw InvalidArgument("max_delay is for AIRLOCK_RESERVE, and else 0");
    }
    const std::uint32_t amount = one_if_0(cost);
    switch (airlock::c::enum_of<airlock_mode>(mode, AIRLOCK_RESERVE, "mode")) {
      case AIRLOCK_PEEK:
        return tell(limiter->peek(amount), false, answer);
      case AIRLOCK_AT_MOST:
        return tell(limiter->try_acquire_at_most(amount), false, answer);
      case AIRLOCK_RESERVE:
        return tell(limiter->reserve(amount, delay), false, answer);
      default:
        return tell(limiter->try_acquire(amount), false, answer);
    }
  });
}

// --- What was granted ---

std::int32_t airlock_seal_release(const airlock_seal* seal, airlock_text token,
                                  airlock_error* error) {
  return run(error, [&] {
    const auto& lock = locking(seal);
    lock.release(own_token(*seal, token));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_seal_renew(const airlock_seal* seal, airlock_text token, std::int64_t ttl,
                                airlock_answer* answer, airlock_error* error) {
  return run(error, [&] {
    airlock::c::clear(&needed(answer, "answer"), "answer");
    const auto& lock = locking(seal);
    const Duration lasts = duration_of(ttl, "ttl");
    std::optional<airlock::AnyDuration> asked;
    if (lasts != Duration(0)) asked = lasts;
    give(answer, answer_of(lock.renew(own_token(*seal, token), asked), true));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_seal_holds(const airlock_seal* seal, airlock_text token,
                                airlock_error* error) {
  return run(error, [&] {
    const auto& lock = locking(seal);
    return lock.is_acquired(own_token(*seal, token)) ? AIRLOCK_DONE : AIRLOCK_GONE;
  });
}

std::int64_t airlock_seal_remaining(const airlock_seal* seal, std::int64_t deadline) {
  const auto* const lock = seal != nullptr ? locking(seal->seal) : nullptr;
  if (lock == nullptr || deadline <= 0) return 0;
  Admission held{{.token = {.gate = seal->gate}}};
  held.deadline = Duration(deadline);
  return lock->remaining_lifetime(held).count();
}

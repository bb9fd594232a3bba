#include "internal.hpp"

using airlock::Duration;
using airlock::c::ask_of;
using airlock::c::clear_if_any;
using airlock::c::duration_or;
using airlock::c::enum_of;
using airlock::c::flag_of;
using airlock::c::give;
using airlock::c::hand_over;
using airlock::c::made;
using airlock::c::needed;
using airlock::c::one_if_0;
using airlock::c::options_of;
using airlock::c::rates_of;
using airlock::c::run;
using airlock::c::Stopwatch;
using airlock::c::text_of;
using airlock::c::visitor_of;

// --- Gates ---

namespace {

airlock::Outage outage_of(std::int32_t outage) {
  static_assert(static_cast<int>(airlock::Outage::open) == AIRLOCK_OUTAGE_OPEN);
  static_assert(static_cast<int>(airlock::Outage::local) == AIRLOCK_OUTAGE_LOCAL);
  return enum_of<airlock::Outage>(outage, AIRLOCK_OUTAGE_LOCAL, "options.outage");
}

airlock::AirlockOptions options_from(const airlock_gate_options& given) {
  static_assert(static_cast<int>(airlock::Order::priority) == AIRLOCK_PRIORITY);
  static_assert(static_cast<int>(airlock::Order::lottery) == AIRLOCK_LOTTERY);
  static_assert(static_cast<int>(airlock::Order::aging_lottery) == AIRLOCK_AGING_LOTTERY);
  airlock::AirlockOptions options;
  options.limit = given.limit;
  options.ttl = duration_or(given.ttl, "options.ttl", options.ttl);
  options.max_hold = duration_or(given.max_hold, "options.max_hold", options.max_hold);
  options.rates = rates_of(given.rates, given.rate_count);
  options.order = enum_of<airlock::Order>(given.order, AIRLOCK_AGING_LOTTERY, "options.order");
  options.exclusive = flag_of(given.exclusive, "options.exclusive");
  options.barging = flag_of(given.barging, "options.barging");
  options.max_waiting = given.max_waiting;
  options.refuse_late = flag_of(given.refuse_late, "options.refuse_late");
  options.local_limit = one_if_0(given.local_limit);
  options.patience = duration_or(given.patience, "options.patience", options.patience);
  const Duration window = duration_or(given.claim_window, "options.claim_window", Duration(0));
  if (window != Duration(0)) options.claim_window = window;
  options.outage = outage_of(given.outage);
  if (given.aging_base != 0) options.aging.base = given.aging_base;
  if (given.aging_per_second != 0) options.aging.per_second = given.aging_per_second;
  if (given.aging_max != 0) options.aging.max = given.aging_max;
  return options;
}

void must_be_0(bool is_set, const char* name) {
  if (is_set) throw airlock::InvalidArgument(std::string(name) + " must be 0 here");
}

airlock::BulkheadOptions bulkhead_options_from(const airlock_gate_options& given) {
  must_be_0(given.order != 0, "options.order");
  must_be_0(given.exclusive != 0, "options.exclusive");
  must_be_0(given.barging != 0, "options.barging");
  must_be_0(given.refuse_late != 0, "options.refuse_late");
  must_be_0(given.patience != 0, "options.patience");
  must_be_0(given.claim_window != 0, "options.claim_window");
  must_be_0(given.aging_base != 0, "options.aging_base");
  must_be_0(given.aging_per_second != 0, "options.aging_per_second");
  must_be_0(given.aging_max != 0, "options.aging_max");
  airlock::BulkheadOptions options;
  options.limit = given.limit;
  options.ttl = duration_or(given.ttl, "options.ttl", options.ttl);
  options.max_hold = duration_or(given.max_hold, "options.max_hold", options.max_hold);
  options.rates = rates_of(given.rates, given.rate_count);
  options.max_waiting = given.max_waiting;
  options.outage = outage_of(given.outage);
  options.local_limit = one_if_0(given.local_limit);
  return options;
}

// Of a call that does not wait here.
airlock::Ask plain_ask(const airlock_ask* ask) {
  const airlock_ask given = options_of(ask, "ask");
  must_be_0(given.interruptible != 0, "ask.interruptible");
  return ask_of(given);
}

}  // namespace

std::int32_t airlock_gate_open(const airlock_store* store, airlock_text name,
                               const airlock_gate_options* options, airlock_gate** gate,
                               airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(gate, "gate");
    const auto& opened = needed(store, "store").store;
    const auto given = options_of(&needed(options, "options"), "options");
    handle = new airlock_gate{{opened, text_of(name, "name"), options_from(given)}};
    return AIRLOCK_DONE;
  });
}

void airlock_gate_free(airlock_gate* gate) { delete gate; }

// --- Entering ---

std::int32_t airlock_enter(const airlock_gate* gate, const airlock_ask* ask, std::int64_t max_wait,
                           airlock_lease** lease, airlock_answer* answer, airlock_error* error) {
  return run(error, [&]() -> std::int32_t {
    auto& handle = made(lease, "lease");
    clear_if_any(answer, "answer");
    const auto& entry = needed(gate, "gate").airlock;
    const auto given = options_of(ask, "ask");
    const bool interruptible = flag_of(given.interruptible, "ask.interruptible");
    const Duration limit(max_wait);
    const Stopwatch watch(answer != nullptr && max_wait > 0);
    if (!interruptible) {
      return hand_over(entry.try_enter_for(limit, ask_of(given)), watch, handle, answer);
    }
    auto outcome = airlock::c::enter_interruptibly(entry, ask_of(given), limit);
    if (!outcome) return AIRLOCK_INTERRUPTED;
    return hand_over(*std::move(outcome), watch, handle, answer);
  });
}

std::int32_t airlock_visitor_admit(const airlock_gate* gate, airlock_visitor visitor,
                                   const airlock_ask* ask, airlock_answer* answer,
                                   airlock_error* error) {
  return run(error, [&] {
    airlock::c::clear(&needed(answer, "answer"), "answer");
    const auto& entry = needed(gate, "gate").airlock;
    const auto reply = entry.admit(visitor_of(visitor), plain_ask(ask));
    if (const auto* granted = std::get_if<airlock::Granted>(&reply)) {
      give(answer, airlock::c::answer_of(*granted, true));
      return AIRLOCK_DONE;
    }
    if (const auto* queued = std::get_if<airlock::Queued>(&reply)) {
      give(answer, airlock::c::answer_of(*queued));
      return AIRLOCK_QUEUED;
    }
    give(answer, airlock::c::answer_of(std::get<airlock::Refused>(reply)));
    return AIRLOCK_REFUSED;
  });
}

std::int32_t airlock_visitor_claim(const airlock_gate* gate, airlock_visitor visitor,
                                   airlock_answer* answer, airlock_error* error) {
  return run(error, [&] {
    airlock::c::clear(&needed(answer, "answer"), "answer");
    const airlock::Claim claim = needed(gate, "gate").airlock.claim(visitor_of(visitor));
    if (claim.status == airlock::Claim::Status::claimed) {
      give(answer, airlock::c::answer_of(claim.granted.value(), true));
      return AIRLOCK_DONE;
    }
    if (claim.status == airlock::Claim::Status::missed) return AIRLOCK_NOTHING;
    give(answer, airlock::c::answer_of(claim.queued.value()));
    return AIRLOCK_QUEUED;
  });
}

std::int32_t airlock_visitor_leave(const airlock_gate* gate, airlock_visitor visitor,
                                   airlock_error* error) {
  return run(error, [&] {
    const bool left = needed(gate, "gate").airlock.leave(visitor_of(visitor));
    return left ? AIRLOCK_DONE : AIRLOCK_NOTHING;
  });
}

std::int32_t airlock_visitor_mark_absent(const airlock_gate* gate, airlock_visitor visitor,
                                         airlock_error* error) {
  return run(error, [&] {
    const bool marked = needed(gate, "gate").airlock.mark_absent(visitor_of(visitor));
    return marked ? AIRLOCK_DONE : AIRLOCK_NOTHING;
  });
}

// --- One gate for each of many keys ---

std::int32_t airlock_keyed_open(const airlock_store* store, airlock_text prefix,
                                const airlock_gate_options* options, airlock_keyed** keyed,
                                airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(keyed, "keyed");
    const auto& opened = needed(store, "store").store;
    const auto given = options_of(&needed(options, "options"), "options");
    handle = new airlock_keyed{{opened, text_of(prefix, "prefix"), bulkhead_options_from(given)}};
    return AIRLOCK_DONE;
  });
}

void airlock_keyed_free(airlock_keyed* keyed) { delete keyed; }

std::int32_t airlock_keyed_enter(const airlock_keyed* keyed, airlock_text key,
                                 const airlock_ask* ask, std::int64_t max_wait,
                                 airlock_lease** lease, airlock_answer* answer,
                                 airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(lease, "lease");
    clear_if_any(answer, "answer");
    const auto& entry = needed(keyed, "keyed").bulkhead;
    const Stopwatch watch(answer != nullptr);
    auto outcome = entry.try_acquire_for(text_of(key, "key"), Duration(max_wait), plain_ask(ask));
    return hand_over(std::move(outcome), watch, handle, answer);
  });
}

// --- Event isolation ---

std::int32_t airlock_isolation_open(const airlock_store* store, std::int64_t ttl,
                                    std::int64_t max_hold, airlock_isolation** isolation,
                                    airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(isolation, "isolation");
    const auto& opened = needed(store, "store").store;
    airlock::EventIsolationOptions options;
    options.ttl = duration_or(ttl, "ttl", options.ttl);
    options.max_hold = duration_or(max_hold, "max_hold", options.max_hold);
    handle = new airlock_isolation{airlock::EventIsolation(opened, options)};
    return AIRLOCK_DONE;
  });
}

void airlock_isolation_free(airlock_isolation* isolation) { delete isolation; }

std::int32_t airlock_isolation_lock(const airlock_isolation* isolation, airlock_text key,
                                    std::int64_t max_wait, airlock_lease** lease,
                                    airlock_answer* answer, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(lease, "lease");
    clear_if_any(answer, "answer");
    const auto& entry = needed(isolation, "isolation").isolation;
    const Stopwatch watch(answer != nullptr);
    auto outcome = entry.try_lock_for(text_of(key, "key"), Duration(max_wait));
    return hand_over(std::move(outcome), watch, handle, answer);
  });
}

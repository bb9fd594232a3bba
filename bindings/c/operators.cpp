#include <sstream>
#include <utility>

#include "internal.hpp"

using airlock::GateName;
using airlock::c::clear;
using airlock::c::give;
using airlock::c::made;
using airlock::c::needed;
using airlock::c::run;
using airlock::c::text_of;

// --- Lists ---

std::size_t airlock_list_size(const airlock_list* list) {
  return list != nullptr ? list->texts.size() : 0;
}

airlock_text airlock_list_at(const airlock_list* list, std::size_t index) {
  if (index >= airlock_list_size(list)) return {nullptr, 0};
  return airlock::c::as_text(list->texts[index]);
}

void airlock_list_free(airlock_list* list) { delete list; }

std::int32_t airlock_gates(const airlock_store* store, airlock_list** names, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(names, "names");
    handle = new airlock_list{needed(store, "store").store.list()};
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_metrics(const airlock_store* store, airlock_list** text,
                             airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(text, "text");
    std::ostringstream out;
    airlock::write_metrics(needed(store, "store").store, out);
    handle = new airlock_list{{std::move(out).str()}};
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_doctor(const airlock_store* store, airlock_list** findings,
                            airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(findings, "findings");
    airlock_list list;
    for (const airlock::Finding& finding : needed(store, "store").store.examine()) {
      std::string& text = list.texts.emplace_back(to_text(finding.level));
      text.append(": ").append(finding.what);
      if (!finding.remedy.empty()) text.append("; ").append(finding.remedy);
    }
    handle = new airlock_list{std::move(list)};
    return AIRLOCK_DONE;
  });
}

// --- Looking ---

std::int32_t airlock_count(const airlock_store* store, airlock_text gate, airlock_counts* counts,
                           airlock_error* error) {
  return run(error, [&] {
    clear(&needed(counts, "counts"), "counts");
    const auto& opened = needed(store, "store").store;
    const GateName name(text_of(gate, "gate"));
    const auto found = airlock::displayed(opened.counts({&name, 1}).at(0));
    airlock_counts result{};
    result.in_use = found.in_use;
    result.limit = found.limit;
    result.overridden = found.overridden ? 1 : 0;
    result.holders = found.holders;
    result.waiting = found.waiting;
    result.exclusive = found.exclusive ? 1 : 0;
    give(counts, result);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_look(const airlock_store* store, airlock_text gate, airlock_view** view,
                          airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(view, "view");
    auto found = needed(store, "store").store.look(text_of(gate, "gate"));
    if (!found) return AIRLOCK_NOTHING;
    handle = new airlock_view{*std::move(found)};
    return AIRLOCK_DONE;
  });
}

void airlock_view_free(airlock_view* view) { delete view; }

std::int32_t airlock_view_summary(const airlock_view* view, airlock_summary* summary,
                                  airlock_error* error) {
  return run(error, [&] {
    clear(&needed(summary, "summary"), "summary");
    const airlock::GateView& gate = needed(view, "view").gate;
    const auto counts = airlock::displayed(gate.counts);
    airlock_summary result{};
    result.limits_disagree = gate.limits_disagree ? 1 : 0;
    result.in_use = counts.in_use;
    result.limit = counts.limit;
    result.override_limit = gate.override_limit ? std::int64_t{*gate.override_limit} : -1;
    result.exclusive = counts.exclusive ? 1 : 0;
    result.order = static_cast<std::int32_t>(gate.order);
    result.last_fence = gate.last_fence;
    result.holders = gate.holders.size();
    result.waiters = gate.line.size();
    result.rates = gate.rates.size();
    result.pauses = gate.pauses.size();
    result.granted = gate.counters.granted;
    static_assert(std::size(decltype(result.refused){}) == airlock::kReasons);
    std::copy(gate.counters.refused.begin(), gate.counters.refused.end(), result.refused);
    result.expired = gate.counters.expired;
    result.revoked = gate.counters.revoked;
    result.died = gate.counters.died;
    result.missed = gate.counters.missed;
    result.abandoned = gate.counters.abandoned;
    give(summary, result);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_view_holder(const airlock_view* view, std::size_t index,
                                 airlock_holder* holder, airlock_error* error) {
  return run(error, [&] {
    clear(&needed(holder, "holder"), "holder");
    const auto& holders = needed(view, "view").gate.holders;
    if (index >= holders.size()) return AIRLOCK_NOTHING;
    const airlock::HolderView& seen = holders[index];
    airlock_holder result{};
    result.weight = seen.weight;
    result.visitor = {seen.visitor.high, seen.visitor.low};
    result.label = airlock::c::as_text(seen.label);
    result.fence = seen.fence;
    result.slot = airlock::c::slot_of(seen.slot);
    result.age = seen.age.count();
    result.remaining = seen.remaining.count();
    result.claimed = seen.claimed ? 1 : 0;
    result.revoked = seen.revoked ? 1 : 0;
    result.detached = seen.hold == airlock::Hold::detached ? 1 : 0;
    give(holder, result);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_view_waiter(const airlock_view* view, std::size_t index,
                                 airlock_waiter* waiter, airlock_error* error) {
  return run(error, [&] {
    clear(&needed(waiter, "waiter"), "waiter");
    const auto& line = needed(view, "view").gate.line;
    if (index >= line.size()) return AIRLOCK_NOTHING;
    const airlock::WaiterView& seen = line[index];
    airlock_waiter result{};
    result.weight = seen.weight;
    result.visitor = {seen.visitor.high, seen.visitor.low};
    result.label = airlock::c::as_text(seen.label);
    result.waited = seen.waited.count();
    result.priority = seen.priority;
    result.present = seen.present ? 1 : 0;
    result.detached = seen.hold == airlock::Hold::detached ? 1 : 0;
    give(waiter, result);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_view_rate(const airlock_view* view, std::size_t index, airlock_rate* rate,
                               airlock_rate_info* info, airlock_error* error) {
  return run(error, [&] {
    auto& configured = needed(rate, "rate");
    auto& state = needed(info, "info");
    const auto& rates = needed(view, "view").gate.rates;
    if (index >= rates.size()) return AIRLOCK_NOTHING;
    configured = airlock::c::rate_of(rates[index].rate);
    state = airlock::c::rate_info_of(rates[index].info);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_view_pause(const airlock_view* view, std::size_t index, airlock_text* reporter,
                                std::int64_t* remaining, airlock_error* error) {
  return run(error, [&] {
    auto& who = needed(reporter, "reporter");
    auto& rest = needed(remaining, "remaining");
    const auto& pauses = needed(view, "view").gate.pauses;
    if (index >= pauses.size()) return AIRLOCK_NOTHING;
    who = airlock::c::as_text(pauses[index].reporter);
    rest = pauses[index].remaining.count();
    return AIRLOCK_DONE;
  });
}

// --- Changing ---

std::int32_t airlock_limit_set(const airlock_store* store, airlock_text gate, std::uint32_t limit,
                               airlock_error* error) {
  return run(error, [&] {
    needed(store, "store").store.set_limit(text_of(gate, "gate"), limit);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_limit_clear(const airlock_store* store, airlock_text gate,
                                 airlock_error* error) {
  return run(error, [&] {
    needed(store, "store").store.set_limit(text_of(gate, "gate"), std::nullopt);
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_pause(const airlock_store* store, airlock_text gate, std::int64_t duration,
                           airlock_text reporter, airlock_error* error) {
  return run(error, [&] {
    needed(store, "store")
        .store.pause(text_of(gate, "gate"), airlock::c::duration_of(duration, "duration"),
                     text_of(reporter, "reporter"));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_resume(const airlock_store* store, airlock_text gate, airlock_text reporter,
                            airlock_error* error) {
  return run(error, [&] {
    const bool resumed =
        needed(store, "store").store.resume(text_of(gate, "gate"), text_of(reporter, "reporter"));
    return resumed ? AIRLOCK_DONE : AIRLOCK_NOTHING;
  });
}

std::int32_t airlock_revoke(const airlock_store* store, airlock_text gate,
                            const airlock_visitor* visitor, std::int32_t now, std::size_t* count,
                            airlock_error* error) {
  return run(error, [&] {
    if (count != nullptr) *count = 0;
    const auto& opened = needed(store, "store").store;
    const auto how = airlock::c::enum_of<airlock::Revoke>(now, 1, "now");
    std::optional<airlock::VisitorId> id;
    if (visitor != nullptr) id = airlock::c::visitor_of(*visitor);
    const std::size_t revoked = opened.revoke(text_of(gate, "gate"), id, how);
    if (count != nullptr) *count = revoked;
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_purge(const airlock_store* store, airlock_text gate, airlock_error* error) {
  return run(error, [&] {
    const bool known = needed(store, "store").store.purge(text_of(gate, "gate"));
    return known ? AIRLOCK_DONE : AIRLOCK_NOTHING;
  });
}

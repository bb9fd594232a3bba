#include "gate_json.hpp"

namespace airlock::cli {

Json seconds(Duration duration) {
  if (duration == kForever) return nullptr;
  return static_cast<double>(duration.count()) / 1e6;
}

std::string digest(const VisitorId& visitor) {
  return VisitorId::named(visitor.text()).text().substr(0, 8);
}

const char* order_text(Order order) {
  switch (order) {
    case Order::fifo:
      return "fifo";
    case Order::priority:
      return "priority";
    case Order::lottery:
      return "lottery";
    case Order::aging_lottery:
      return "aging";
  }
  return "unknown";
}

const char* hold_text(Hold hold) { return hold == Hold::bound ? "bound" : "detached"; }

std::string reporter_of(const PauseView& pause) {
  return pause.reporter.empty() ? "operator" : pause.reporter;
}

bool has_limit(const GateCounts& counts) {
  return !counts.exclusive && (counts.limit != 0 || counts.overridden);
}

// Readers have a weight of 1 each, the writer all there is.
const char* lock_state(const GateCounts& counts) {
  if (counts.holders == 0) return "free";
  return counts.limit != 1 && counts.in_use == counts.holders ? "shared" : "held";
}

// A lock that only writers ask for has a limit of 1.
bool is_reader(const GateView& gate, std::uint32_t weight) {
  return gate.counts.exclusive && weight == 1 && gate.counts.limit != 1;
}

const char* kind_of(const GateView& gate) {
  if (gate.counts.exclusive) return "lock";
  if (has_limit(gate.counts) || gate.counts.holders != 0) return "permits";
  return gate.rates.empty() ? "unused" : "rate";
}

GateReport report_on(GateView gate) {
  GateReport report;
  for (const HolderView& holder : gate.holders) report.holders.push_back(digest(holder.visitor));
  for (const WaiterView& waiter : gate.line) report.line.push_back(digest(waiter.visitor));
  report.gate = std::move(gate);
  return report;
}

namespace {

Json access_of(const GateView& gate, std::uint32_t weight) {
  if (!gate.counts.exclusive) return nullptr;
  return is_reader(gate, weight) ? "read" : "write";
}

Json described(const GateView& gate, const HolderView& holder, const std::string& visitor) {
  return {{"visitor", visitor},
          {"label", holder.label},
          {"fence", holder.fence},
          {"weight", holder.weight},
          {"access", access_of(gate, holder.weight)},
          {"slot", holder.slot ? Json(*holder.slot) : Json(nullptr)},
          {"age_seconds", seconds(holder.age)},
          {"remaining_seconds", seconds(holder.remaining)},
          {"claimed", holder.claimed},
          {"revoked", holder.revoked},
          {"hold", hold_text(holder.hold)}};
}

Json described(const GateView& gate, const WaiterView& waiter, const std::string& visitor) {
  return {{"visitor", visitor},          {"label", waiter.label},
          {"weight", waiter.weight},     {"access", access_of(gate, waiter.weight)},
          {"priority", waiter.priority}, {"waited_seconds", seconds(waiter.waited)},
          {"present", waiter.present},   {"hold", hold_text(waiter.hold)}};
}

Json described(const RateView& rate) {
  return {{"rate", rate.rate.text()},
          {"limit", rate.info.limit},
          {"remaining", rate.info.remaining},
          {"retry_after_seconds", seconds(rate.info.retry_after)},
          {"reset_after_seconds", seconds(rate.info.reset_after)}};
}

Json described(const PauseView& pause) {
  return {{"reporter", reporter_of(pause)}, {"remaining_seconds", seconds(pause.remaining)}};
}

Json described(const Counters& counters) {
  Json refused;
  for (std::size_t i = 0; i < kReasons; ++i) {
    refused[to_text(static_cast<Reason>(i))] = counters.refused[i];
  }
  return {{"granted", counters.granted},     {"refused", refused},
          {"expired", counters.expired},     {"revoked", counters.revoked},
          {"died", counters.died},           {"missed", counters.missed},
          {"abandoned", counters.abandoned}, {"wait_seconds_sum", seconds(counters.wait_sum)}};
}

template <typename T>
Json list_of(const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& one : all) list.push_back(described(one));
  return list;
}

template <typename Visit>
Json list_of(const GateView& gate, const std::vector<Visit>& visits,
             const std::vector<std::string>& visitors) {
  Json list = Json::array();
  for (std::size_t i = 0; i < visits.size(); ++i)
    list.push_back(described(gate, visits[i], visitors[i]));
  return list;
}

// Gates of keyed locks may be named by a digest; the label has the key.
Json held_by(const GateView& gate) {
  if (!gate.counts.exclusive || gate.holders.size() != 1) return nullptr;
  return gate.holders[0].label;
}

Json readable_json(const GateView& gate) {
  const GateCounts counts = displayed(gate.counts);
  const bool has_limit = counts.limit != 0 || counts.overridden;
  return {{"name", gate.name},
          {"kind", kind_of(gate)},
          {"lock_state", counts.exclusive ? Json(lock_state(gate.counts)) : Json(nullptr)},
          {"held_by", held_by(gate)},
          {"in_use", counts.in_use},
          {"limit", has_limit ? Json(counts.limit) : Json(nullptr)},
          {"override_limit", gate.override_limit ? Json(*gate.override_limit) : Json(nullptr)},
          {"holder_count", counts.holders},
          {"waiting", counts.waiting},
          {"limits_disagree", gate.limits_disagree},
          {"pauses", list_of(gate.pauses)},
          {"rates", list_of(gate.rates)},
          {"counters", described(gate.counters)}};
}

}  // namespace

Json summary_json(const GateSummary& summary) {
  if (summary.unreadable.empty()) return readable_json(summary.gate);
  Json json = {{"name", summary.gate.name}, {"kind", kUnreadable}, {"error", summary.unreadable}};
  for (const char* const unknown :
       {"lock_state", "held_by", "in_use", "limit", "override_limit", "holder_count", "waiting",
        "limits_disagree", "pauses", "rates", "counters"}) {
    json[unknown] = nullptr;
  }
  return json;
}

Json whole_json(const GateReport& report) {
  const GateView& gate = report.gate;
  Json json = readable_json(gate);
  json["order"] = order_text(gate.order);
  json["last_fence"] = gate.last_fence;
  json["holders"] = list_of(gate, gate.holders, report.holders);
  json["line"] = list_of(gate, gate.line, report.line);
  return json;
}

}  // namespace airlock::cli

#include "gate_text.hpp"

#include <numeric>

namespace airlock::cli {
namespace {

constexpr const char* kUnreadable = "unreadable";  // A kind of gates.

const char* text_of(Order order) {
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

const char* text_of(Hold hold) { return hold == Hold::bound ? "bound" : "detached"; }

std::string reporter_of(const PauseView& pause) {
  return pause.reporter.empty() ? "operator" : pause.reporter;
}

bool has_limit(const GateCounts& counts) {
  return !counts.exclusive && (counts.limit != 0 || counts.overridden);
}

std::string limit_text(const GateCounts& counts) {
  return has_limit(counts) ? std::to_string(counts.limit) : "-";
}

// Readers have a weight of 1 each, the writer all there is.
const char* lock_state(const GateCounts& counts) {
  if (counts.holders == 0) return "free";
  return counts.limit != 1 && counts.in_use == counts.holders ? "shared" : "held";
}

const char* kind_of(const GateView& gate) {
  if (gate.counts.exclusive) return "lock";
  if (has_limit(gate.counts) || gate.counts.holders != 0) return "permits";
  return gate.rates.empty() ? "unused" : "rate";
}

// The first line of `show`.
std::string use_in_words(const GateView& gate) {
  const GateCounts& counts = gate.counts;
  if (counts.exclusive) {
    const std::string by = counts.holders == 0 ? "" : " by " + std::to_string(counts.holders);
    return std::string("lock, ") + lock_state(counts) + by;
  }
  if (has_limit(counts)) {
    return std::to_string(counts.in_use) + " of " + std::to_string(counts.limit) + " in use";
  }
  return gate.rates.empty() ? "not in use" : "rate only";
}

std::string rate_text(const RateView& rate) {
  return rate.rate.text() + " (" + std::to_string(rate.info.remaining) + " left)";
}

}  // namespace

std::string use_text(const GateCounts& counts) {
  if (counts.exclusive) {
    const bool many = counts.holders > 1;
    return lock_state(counts) + (many ? " by " + std::to_string(counts.holders) : std::string());
  }
  if (!has_limit(counts)) return counts.holders == 0 ? "-" : std::to_string(counts.in_use);
  return std::to_string(counts.in_use) + " / " + std::to_string(counts.limit);
}

std::string notes(const GateView& gate) {
  std::string text;
  const auto add = [&](const std::string& note) { text += (text.empty() ? "" : ", ") + note; };
  if (gate.override_limit) add("limit set to " + std::to_string(*gate.override_limit));
  for (const PauseView& pause : gate.pauses) {
    add(pause.reporter.empty() ? "paused" : "paused by " + pause.reporter);
  }
  if (gate.limits_disagree) add("limits disagree");
  for (const RateView& rate : gate.rates) add(rate_text(rate));
  // Gates of keyed locks may be named by a digest; the label has the key.
  if (gate.counts.exclusive && gate.holders.size() == 1) add("by " + gate.holders[0].label);
  return text;
}

std::uint64_t refusals(const Counters& counters) {
  return std::accumulate(counters.refused.begin(), counters.refused.end(), std::uint64_t{0});
}

namespace {

std::string state_of(const HolderView& holder) {
  if (holder.revoked) return "revoked";
  return holder.claimed ? text_of(holder.hold) : "handed over";
}

// A lock has readers and writers, and no weights.
std::string weight_text(const GateView& gate, std::uint32_t weight) {
  if (!gate.counts.exclusive) return std::to_string(weight);
  return weight == 1 && gate.counts.limit != 1 ? "reader" : "writer";
}

std::string holders_text(const GateView& gate) {
  Table table({"VISITOR", "SLOT", gate.counts.exclusive ? "AS" : "WEIGHT", "AGE", "LEFT", "STATE",
               "LABEL"});
  for (const HolderView& holder : gate.holders) {
    table.add({digest(holder.visitor), holder.slot ? std::to_string(*holder.slot) : "-",
               weight_text(gate, holder.weight), brief(holder.age), brief(holder.remaining),
               state_of(holder), holder.label});
  }
  return table.text("  ");
}

std::string line_text(const GateView& gate) {
  Table table({"VISITOR", "PLACE", gate.counts.exclusive ? "AS" : "WEIGHT", "PRIORITY", "WAITED",
               "STATE", "LABEL"});
  std::size_t place = 0;
  for (const WaiterView& waiter : gate.line) {
    table.add({digest(waiter.visitor), std::to_string(++place), weight_text(gate, waiter.weight),
               std::to_string(waiter.priority), brief(waiter.waited),
               waiter.present ? "waits" : "absent", waiter.label});
  }
  return table.text("  ");
}

std::string rates_text(const GateView& gate) {
  Table table({"RATE", "LEFT", "OF", "FULL AGAIN IN"});
  for (const RateView& rate : gate.rates) {
    table.add({rate.rate.text(), std::to_string(rate.info.remaining),
               std::to_string(rate.info.limit), brief(rate.info.reset_after)});
  }
  return table.text("  ");
}

std::string counters_text(const Counters& counters) {
  std::string text = "counted: " + std::to_string(counters.granted) + " granted, " +
                     std::to_string(refusals(counters)) + " refused";
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count != 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(counters.expired, "expired");
  add(counters.died, "died");
  add(counters.revoked, "revoked");
  add(counters.missed, "missed");
  add(counters.abandoned, "gave up");
  if (counters.granted != 0) {
    const auto mean = counters.wait_sum.count() / static_cast<std::int64_t>(counters.granted);
    text += "; " + brief(Duration(mean)) + " mean wait";
  }
  return text + "\n";
}

Json described(const HolderView& holder) {
  return {{"visitor", digest(holder.visitor)},
          {"label", holder.label},
          {"fence", holder.fence},
          {"weight", holder.weight},
          {"slot", holder.slot ? Json(*holder.slot) : Json(nullptr)},
          {"age_seconds", seconds(holder.age)},
          {"remaining_seconds", seconds(holder.remaining)},
          {"claimed", holder.claimed},
          {"revoked", holder.revoked},
          {"hold", text_of(holder.hold)}};
}

Json described(const WaiterView& waiter) {
  return {{"visitor", digest(waiter.visitor)},
          {"label", waiter.label},
          {"weight", waiter.weight},
          {"priority", waiter.priority},
          {"waited_seconds", seconds(waiter.waited)},
          {"present", waiter.present},
          {"hold", text_of(waiter.hold)}};
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

Json readable_json(const GateView& gate) {
  const GateCounts counts = displayed(gate.counts);
  const bool has_limit = counts.limit != 0 || counts.overridden;
  return {{"name", gate.name},
          {"kind", kind_of(gate)},
          {"lock_state", counts.exclusive ? Json(lock_state(gate.counts)) : Json(nullptr)},
          {"in_use", counts.in_use},
          {"limit", has_limit ? Json(counts.limit) : Json(nullptr)},
          {"override_limit", gate.override_limit ? Json(*gate.override_limit) : Json(nullptr)},
          {"holder_count", counts.holders},
          {"waiting", counts.waiting},
          {"limits_disagree", gate.limits_disagree},
          {"pauses", list_of(gate.pauses)}};
}

}  // namespace

Table::Row summary_heading() {
  return {"NAME", "KIND", "IN USE", "LIMIT", "HOLDERS", "WAITING", "NOTES"};
}

Table::Row summary_row(const GateSummary& summary) {
  const GateView& gate = summary.gate;
  const GateCounts& counts = gate.counts;
  if (!summary.unreadable.empty()) {
    return {gate.name, kUnreadable, "-", "-", "-", "-", summary.unreadable};
  }
  return {gate.name,
          kind_of(gate),
          counts.exclusive ? lock_state(counts) : std::to_string(counts.in_use),
          limit_text(counts),
          std::to_string(counts.holders),
          std::to_string(counts.waiting),
          notes(gate)};
}

Json summary_json(const GateSummary& summary) {
  if (summary.unreadable.empty()) return readable_json(summary.gate);
  Json json = {{"name", summary.gate.name}, {"kind", kUnreadable}, {"error", summary.unreadable}};
  for (const char* const unknown : {"lock_state", "in_use", "limit", "override_limit",
                                    "holder_count", "waiting", "limits_disagree", "pauses"}) {
    json[unknown] = nullptr;
  }
  return json;
}

std::string whole_text(const GateView& gate) {
  std::string out = gate.name + ": " + use_in_words(gate) + ", " +
                    std::to_string(gate.counts.waiting) + " waiting (" + text_of(gate.order) +
                    ")\n";
  if (gate.override_limit) {
    out += "limit set to " + std::to_string(*gate.override_limit) + " by an operator\n";
  }
  for (const PauseView& pause : gate.pauses) {
    out += "paused by " + reporter_of(pause) + " for another " + brief(pause.remaining) + "\n";
  }
  if (gate.limits_disagree) out += "its visitors came with different limits\n";
  if (!gate.holders.empty()) out += "inside:\n" + holders_text(gate);
  if (!gate.line.empty()) out += "in line:\n" + line_text(gate);
  if (!gate.rates.empty()) out += "rates:\n" + rates_text(gate);
  return out + counters_text(gate.counters);
}

Json whole_json(const GateView& gate) {
  Json json = readable_json(gate);
  json["order"] = text_of(gate.order);
  json["last_fence"] = gate.last_fence;
  json["holders"] = list_of(gate.holders);
  json["line"] = list_of(gate.line);
  json["rates"] = list_of(gate.rates);
  json["counters"] = described(gate.counters);
  return json;
}

}  // namespace airlock::cli

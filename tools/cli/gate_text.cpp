#include "gate_text.hpp"

#include <numeric>

namespace airlock::cli {
namespace {

std::string limit_text(const GateCounts& counts) {
  return has_limit(counts) ? std::to_string(counts.limit) : "-";
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
  return holder.claimed ? hold_text(holder.hold) : "handed over";
}

// A lock has readers and writers, and no weights.
std::string weight_text(const GateView& gate, std::uint32_t weight) {
  if (!gate.counts.exclusive) return std::to_string(weight);
  return is_reader(gate, weight) ? "reader" : "writer";
}

std::string holders_text(const GateReport& report) {
  const GateView& gate = report.gate;
  Table table({"VISITOR", "SLOT", gate.counts.exclusive ? "AS" : "WEIGHT", "AGE", "LEFT", "STATE",
               "LABEL"});
  for (std::size_t i = 0; i < gate.holders.size(); ++i) {
    const HolderView& holder = gate.holders[i];
    table.add({report.holders[i], holder.slot ? std::to_string(*holder.slot) : "-",
               weight_text(gate, holder.weight), brief(holder.age), brief(holder.remaining),
               state_of(holder), holder.label});
  }
  return table.text("  ");
}

std::string line_text(const GateReport& report) {
  const GateView& gate = report.gate;
  Table table({"VISITOR", "PLACE", gate.counts.exclusive ? "AS" : "WEIGHT", "PRIORITY", "WAITED",
               "STATE", "LABEL"});
  for (std::size_t i = 0; i < gate.line.size(); ++i) {
    const WaiterView& waiter = gate.line[i];
    table.add({report.line[i], std::to_string(i + 1), weight_text(gate, waiter.weight),
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

std::string whole_text(const GateReport& report) {
  const GateView& gate = report.gate;
  std::string out = gate.name + ": " + use_in_words(gate) + ", " +
                    std::to_string(gate.counts.waiting) + " waiting (" + order_text(gate.order) +
                    ")\n";
  if (gate.override_limit) {
    out += "limit set to " + std::to_string(*gate.override_limit) + " by an operator\n";
  }
  for (const PauseView& pause : gate.pauses) {
    out += "paused by " + reporter_of(pause) + " for another " + brief(pause.remaining) + "\n";
  }
  if (gate.limits_disagree) out += "its visitors came with different limits\n";
  if (!gate.holders.empty()) out += "inside:\n" + holders_text(report);
  if (!gate.line.empty()) out += "in line:\n" + line_text(report);
  if (!gate.rates.empty()) out += "rates:\n" + rates_text(gate);
  return out + counters_text(gate.counters);
}

}  // namespace airlock::cli

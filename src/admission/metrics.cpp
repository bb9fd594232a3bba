#include "airlock/metrics.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "admission/prometheus.hpp"

namespace airlock {
namespace {

using prometheus::Text;

struct Gate {
  std::string name;
  GateCounts counts;
  bool has_limit = false;
  Counters counters;
};

struct Gates {
  std::vector<Gate> all;
  std::size_t unreadable = 0;
};

Gates read(const Store& store, const std::function<bool(std::string_view)>& include) {
  Gates gates;
  for (const auto& [gate, unreadable] : store.survey(include)) {
    if (!unreadable.empty()) {
      ++gates.unreadable;
      continue;
    }
    const bool has_limit = gate.counts.limit != 0 || gate.override_limit;
    gates.all.push_back({gate.name, displayed(gate.counts), has_limit, gate.counters});
  }
  return gates;
}

// One value per gate.
template <typename Value>
void write_simple(Text& text, const Gates& gates, std::string_view name, const Value& value) {
  for (const Gate& gate : gates.all) {
    text.sample(name, {{"gate", gate.name}}, std::to_string(value(gate)));
  }
}

template <typename Value>
void write_counter(Text& text, const Gates& gates, std::string_view name, std::string_view help,
                   const Value& value) {
  text.family(name, "counter", help);
  write_simple(text, gates, name, value);
}

void write_refused(Text& text, const Gates& gates) {
  constexpr std::string_view kName = "airlock_refused_total";
  text.family(kName, "counter", "Refusals, by reason.");
  for (const Gate& gate : gates.all) {
    for (std::size_t i = 0; i < kReasons; ++i) {
      text.sample(kName, {{"gate", gate.name}, {"reason", to_text(static_cast<Reason>(i))}},
                  std::to_string(gate.counters.refused[i]));
    }
  }
}

void write_lost(Text& text, const Gates& gates) {
  constexpr std::string_view kName = "airlock_leases_lost_total";
  text.family(kName, "counter", "Admissions that ended without a release, by reason.");
  for (const auto& [name, counts, has_limit, counters] : gates.all) {
    const auto write = [&, &gate = name](std::string_view reason, std::uint64_t value) {
      text.sample(kName, {{"gate", gate}, {"reason", reason}}, std::to_string(value));
    };
    write("expired", counters.expired);
    write("revoked", counters.revoked);
    write("died", counters.died);
  }
}

// The buckets of the store count apart, those of Prometheus add up.
void write_waits(Text& text, const Gates& gates) {
  text.family("airlock_wait_seconds", "histogram", "How long those admitted had waited.");
  for (const Gate& gate : gates.all) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < Counters::kWaitBuckets; ++i) {
      const bool last = i == Counters::kWaitBounds.size();
      sum += gate.counters.waits[i];
      text.sample("airlock_wait_seconds_bucket",
                  {{"gate", gate.name},
                   {"le", last ? "+Inf" : prometheus::seconds(Counters::kWaitBounds[i])}},
                  std::to_string(sum));
    }
    text.sample("airlock_wait_seconds_sum", {{"gate", gate.name}},
                prometheus::seconds(gate.counters.wait_sum));
    text.sample("airlock_wait_seconds_count", {{"gate", gate.name}}, std::to_string(sum));
  }
}

void write_gauges(Text& text, const Gates& gates) {
  text.family("airlock_in_use", "gauge", "The weight of those inside; a lock counts as 1.");
  write_simple(text, gates, "airlock_in_use", [](const Gate& g) { return g.counts.in_use; });

  text.family("airlock_limit", "gauge", "How much may be inside now.");
  for (const Gate& gate : gates.all) {
    if (!gate.has_limit) continue;
    text.sample("airlock_limit", {{"gate", gate.name}}, std::to_string(gate.counts.limit));
  }

  text.family("airlock_holders", "gauge", "Visitors inside.");
  write_simple(text, gates, "airlock_holders", [](const Gate& g) { return g.counts.holders; });

  text.family("airlock_waiting", "gauge", "Visitors in the line.");
  write_simple(text, gates, "airlock_waiting", [](const Gate& g) { return g.counts.waiting; });

  text.family("airlock_unreadable_gates", "gauge",
              "Gates that are left out: of another version, or somebody else's keys.");
  text.sample("airlock_unreadable_gates", {}, std::to_string(gates.unreadable));
}

}  // namespace

void write_metrics(const Store& store, std::ostream& out) {
  write_metrics(store, out, [](std::string_view) { return true; });
}

void write_metrics(const Store& store, std::ostream& out,
                   const std::function<bool(std::string_view gate)>& include) {
  const Gates gates = read(store, include);
  Text text(out);
  write_counter(text, gates, "airlock_granted_total", "Admissions.",
                [](const Gate& gate) { return gate.counters.granted; });
  write_refused(text, gates);
  write_waits(text, gates);
  write_gauges(text, gates);
  write_lost(text, gates);
  write_counter(text, gates, "airlock_handovers_missed_total", "Hand-overs that nobody claimed.",
                [](const Gate& gate) { return gate.counters.missed; });
  write_counter(text, gates, "airlock_abandoned_total", "Waiters that left or lost patience.",
                [](const Gate& gate) { return gate.counters.abandoned; });
  text.flush();
}

}  // namespace airlock

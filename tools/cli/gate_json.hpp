#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/look.hpp"
#include "airlock/token.hpp"

// A gate as programs read it: `airlock ls --json` and `show --json`, and the server. Needs nothing of the command.

namespace airlock::cli {

using Json = nlohmann::ordered_json;

// A length of time in JSON: seconds, or null for ever.
[[nodiscard]] Json seconds(Duration duration);

// What people see of a visitor. Whoever knows the visitor itself could act for it.
[[nodiscard]] std::string digest(const VisitorId& visitor);

// A gate whose visitors are known by their digests: what a server says of it has nothing else.
struct GateReport {
  GateView gate;
  std::vector<std::string> holders;  // Digests, as in gate.holders,
  std::vector<std::string> line;     // and as in gate.line.
};
[[nodiscard]] GateReport report_on(GateView gate);

[[nodiscard]] Json summary_json(const GateSummary& summary);
[[nodiscard]] Json whole_json(const GateReport& report);
[[nodiscard]] inline Json whole_json(GateView gate) {
  return whole_json(report_on(std::move(gate)));
}

// The words for it, here and in tables.
inline constexpr const char* kUnreadable = "unreadable";  // A kind of gates.
[[nodiscard]] const char* order_text(Order order);
[[nodiscard]] const char* hold_text(Hold hold);
[[nodiscard]] std::string reporter_of(const PauseView& pause);
[[nodiscard]] const char* lock_state(const GateCounts& counts);
[[nodiscard]] const char* kind_of(const GateView& gate);
[[nodiscard]] bool has_limit(const GateCounts& counts);
[[nodiscard]] bool is_reader(const GateView& gate, std::uint32_t weight);  // Of a lock.

}  // namespace airlock::cli

#pragma once

#include <nlohmann/json.hpp>
#include <string>

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

[[nodiscard]] Json summary_json(const GateSummary& summary);
[[nodiscard]] Json whole_json(const GateView& gate);

// The words for it, here and in tables.
inline constexpr const char* kUnreadable = "unreadable";  // A kind of gates.
[[nodiscard]] const char* order_text(Order order);
[[nodiscard]] const char* hold_text(Hold hold);
[[nodiscard]] std::string reporter_of(const PauseView& pause);
[[nodiscard]] const char* lock_state(const GateCounts& counts);
[[nodiscard]] const char* kind_of(const GateView& gate);
[[nodiscard]] bool has_limit(const GateCounts& counts);

}  // namespace airlock::cli

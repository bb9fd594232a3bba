#pragma once

#include <cstdint>
#include <string>

#include "airlock/look.hpp"
#include "gate_json.hpp"
#include "output.hpp"

// A gate as an operator reads it. A lock is held, shared or free; a gate that has only rates has no
// limit to show.

namespace airlock::cli {

[[nodiscard]] Table::Row summary_heading();
[[nodiscard]] Table::Row summary_row(const GateSummary& summary);

[[nodiscard]] std::string whole_text(const GateReport& report);

// Parts of these: "3 / 10", "held", "shared by 2", "-"; what operators set, and rates; refusals of
// all reasons.
[[nodiscard]] std::string use_text(const GateCounts& counts);
[[nodiscard]] std::string notes(const GateView& gate);
[[nodiscard]] std::uint64_t refusals(const Counters& counters);

}  // namespace airlock::cli

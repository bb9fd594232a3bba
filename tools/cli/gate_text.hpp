#pragma once

#include <string>

#include "airlock/look.hpp"
#include "output.hpp"

// A gate as an operator reads it.

namespace airlock::cli {

[[nodiscard]] Table::Row summary_row(const GateView& gate);
[[nodiscard]] Json summary_json(const GateView& gate);

[[nodiscard]] std::string whole_text(const GateView& gate);
[[nodiscard]] Json whole_json(const GateView& gate);

}  // namespace airlock::cli

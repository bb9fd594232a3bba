#pragma once

#include <string>

#include "airlock/look.hpp"
#include "airlock/outcome.hpp"

namespace airlock::contract {

// What a failed expectation shows.
[[nodiscard]] std::string describe(const Answer& answer);

// All that an operator sees of a gate: equal texts, equal state.
[[nodiscard]] std::string describe(const GateView& view);

}  // namespace airlock::contract

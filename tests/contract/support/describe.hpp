#pragma once

#include <string>

#include "airlock/answer.hpp"
#include "airlock/look.hpp"

namespace airlock::contract {

// What a failed expectation shows.
[[nodiscard]] std::string describe(const Answer& answer);

// All that an operator sees of a gate: equal texts, equal state.
[[nodiscard]] std::string describe(const GateView& view);

}  // namespace airlock::contract

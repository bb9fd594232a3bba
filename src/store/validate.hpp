#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "airlock/request.hpp"

// The rules of request.hpp and rate.hpp, for every store: InvalidArgument that names the value and
// the rule, before anything happens. Nothing is allocated where the rules are kept.

namespace airlock {

// The most gates that one step decides.
inline constexpr std::size_t kMaxGroupSize = 16;

void validate(const Request& request);

// Several gates of one group: each valid, names distinct, one visitor, RateMode::take only, no
// dedupe.
void validate_group(std::span<const Request> requests);

void validate_permits(const Permits& permits);
void validate_rates(std::span<const Rate> rates, std::uint32_t cost);
void validate_limit(std::uint32_t limit);  // An operator's: 0 closes the gate.
void validate_ttl(Duration ttl);
void validate_pause(Duration duration, std::string_view reporter);

}  // namespace airlock

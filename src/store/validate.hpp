#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "airlock/request.hpp"
#include "base/rate_check.hpp"

// The rules of request.hpp and rate.hpp, for every store: InvalidArgument that names the value and
// the rule, before anything happens. Nothing is allocated where the rules are kept.

namespace airlock {

// The most gates that one step decides.
inline constexpr std::size_t kMaxGroupSize = 16;

inline void validate(const Request& request);

// Several gates of one group: each valid, names distinct, one visitor, RateMode::take only, no
// dedupe.
void validate_group(std::span<const Request> requests);

void validate_permits(const Permits& permits);
void validate_rates(std::span<const Rate> rates, std::uint32_t cost);
void validate_limit(std::uint32_t limit);  // An operator's: 0 closes the gate.
void validate_ttl(Duration ttl);
void validate_pause(Duration duration, std::string_view reporter);

namespace validate_detail {

// Above 0 and at most kMaxTtl: one comparison.
constexpr bool is_span(Duration value) noexcept {
  return static_cast<std::uint64_t>(value.count()) - 1 <
         static_cast<std::uint64_t>(kMaxTtl.count());
}

inline bool are_usual(const Permits& permits) noexcept {
  return permits.limit <= kMaxLimit && permits.weight - 1 < permits.limit && is_span(permits.ttl);
}

inline bool is_usual(const Line& line) noexcept {
  return line.priority == 0 && !line.returning && line.order != Order::aging_lottery &&
         is_span(line.patience) && is_span(line.claim_window) && line.max_eta >= Duration(0);
}

// A question as most are, and right, seen at a glance: an admission without contention would feel
// more than that. False says nothing.
inline bool is_usual(const Request& request) noexcept {
  const bool has_one = request.rates.size() == 1;
  return (request.permits ? are_usual(*request.permits) && request.rates.size() <= 1 : has_one) &&
         (!has_one || base::keeps_rules(request.rates.front(), request.cost)) &&
         request.cost - 1 < base::kMaxCount && request.mode == RateMode::take &&
         request.max_delay >= Duration(0) && request.dedupe == Duration(0) &&
         request.label.empty() && is_usual(request.line);
}

void validate_in_full(const Request& request);

}  // namespace validate_detail

void validate(const Request& request) {
  if (!validate_detail::is_usual(request)) [[unlikely]]
    validate_detail::validate_in_full(request);
}

}  // namespace airlock

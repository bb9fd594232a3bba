#include "store/validate.hpp"

#include <string>

#include "airlock/error.hpp"
#include "base/quote.hpp"
#include "base/rate_check.hpp"

namespace airlock {
namespace {

constexpr std::uint32_t kMaxTickets = 1U << 20;

// Cold and never inlined, so that a request that keeps the rules costs its comparisons and no more.
#define AIRLOCK_FAILURE [[noreturn, gnu::cold, gnu::noinline]] void

AIRLOCK_FAILURE fail(const char* what, std::string_view value, std::string_view rule) {
  throw InvalidArgument(std::string(what).append(" ").append(value).append(": ").append(rule));
}

AIRLOCK_FAILURE fail(const char* what, std::uint64_t value, std::string_view rule) {
  fail(what, std::to_string(value), rule);
}

AIRLOCK_FAILURE fail(const char* what, Duration value, std::string_view rule) {
  fail(what, to_text(value), rule);
}

AIRLOCK_FAILURE fail_weight(const Permits& permits) {
  fail("weight", permits.weight, "1 to the limit, " + std::to_string(permits.limit));
}

AIRLOCK_FAILURE fail_aging_max(const Aging& aging) {
  fail("aging max", aging.max, std::to_string(aging.base) + " (the base) to 1048576 is needed");
}

AIRLOCK_FAILURE fail_not_reservable(const Rate& rate) {
  fail("rate", rate.text(), "only rates without a window can be reserved");
}

AIRLOCK_FAILURE fail_alike(const Rate& a, const Rate& b) {
  fail("rates", a.text() + " and " + b.text(),
       "two tiers of one algorithm and period share their state");
}

AIRLOCK_FAILURE fail_shown(const char* what, std::string_view text) {
  if (text.size() <= kMaxLabelSize) fail(what, base::quoted(text), "no control characters");
  fail(what, base::quoted(text),
       "at most 64 bytes are shown, it has " + std::to_string(text.size()));
}

#undef AIRLOCK_FAILURE

void require_span(const char* what, Duration value) {
  if (!validate_detail::is_span(value)) fail(what, value, "above 0 and at most 365d is needed");
}

void require_not_negative(const char* what, Duration value) {
  if (value < Duration::zero()) fail(what, value, "0 or more is needed");
}

void require_shown(const char* what, std::string_view text) {
  if (text.empty()) return;
  if (text.size() > kMaxLabelSize || !base::is_printable(text)) fail_shown(what, text);
}

void validate_aging(const Aging& aging) {
  if (aging.base == 0) fail("aging base", 0U, "1 or more is needed");
  if (aging.max < aging.base || aging.max > kMaxTickets) fail_aging_max(aging);
  if (aging.per_second > kMaxTickets) fail("aging per_second", aging.per_second, "at most 1048576");
}

void validate_line(const Line& line) {
  if (line.priority != 0) {
    if (line.order != Order::priority) fail("priority", line.priority, "needs the order priority");
    if (line.priority > kMaxPriority) fail("priority", line.priority, "at most 4095");
  }
  require_span("patience", line.patience);
  require_span("claim window", line.claim_window);
  require_not_negative("max_eta", line.max_eta);
  if (line.join && line.returning) fail("line", "join", "a returning visitor cannot join");
  if (line.order == Order::aging_lottery) validate_aging(line.aging);
}

bool same_state(const Rate& a, const Rate& b) {
  return a.algorithm == b.algorithm && a.period == b.period;
}

void require_distinct(const Rate& rate, std::span<const Rate> before) {
  for (const Rate& other : before) {
    if (same_state(rate, other)) fail_alike(other, rate);
  }
}

const char* text_of(RateMode mode) {
  switch (mode) {
    case RateMode::take:
      return "take";
    case RateMode::peek:
      return "peek";
    case RateMode::at_most:
      return "at_most";
    case RateMode::reserve:
      return "reserve";
  }
  return "unknown";
}

// A tier without limit delays nobody, so configuration may turn a reserved rate off.
void require_reservable(std::span<const Rate> rates) {
  for (const Rate& rate : rates) {
    const bool reservable =
        rate.algorithm == Rate::Algorithm::gcra || rate.algorithm == Rate::Algorithm::no_limit;
    if (!reservable) fail_not_reservable(rate);
  }
}

void validate_mode(const Request& request) {
  if (request.mode == RateMode::take) return;
  const char* const mode = text_of(request.mode);
  if (request.permits) fail("mode", mode, "only take goes with permits");
  if (request.line.join) fail("mode", mode, "only take can join a line");
  if (request.mode == RateMode::reserve) require_reservable(request.rates);
}

void validate_dedupe(const Request& request) {
  if (request.dedupe == Duration::zero()) return;
  require_span("dedupe", request.dedupe);
  if (request.permits) fail("dedupe", request.dedupe, "permits are idempotent by themselves");
  if (request.mode != RateMode::take) fail("dedupe", request.dedupe, "only in mode take");
}

void validate_member(const Request& request, std::span<const Request> before) {
  validate(request);
  if (request.mode != RateMode::take) fail("mode", text_of(request.mode), "only take in a group");
  if (request.dedupe != Duration::zero()) fail("dedupe", request.dedupe, "not in a group");
  if (request.line.returning) fail("line", "returning", "not in a group");
  for (const Request& other : before) {
    if (other.gate == request.gate) fail("gate", request.gate.view(), "twice in one group request");
  }
  const Request& first = before.empty() ? request : before.front();
  if (request.gate.group() != first.gate.group()) {
    fail("gate", request.gate.view(), "not of the group of " + first.gate.text());
  }
  if (request.visitor != first.visitor) {
    fail("gate", request.gate.view(), "asked for another visitor than " + first.gate.text());
  }
}

}  // namespace

void validate_detail::validate_in_full(const Request& request) {
  if (!request.permits && request.rates.empty()) {
    fail("request", "without permits and rates", "one of them is needed");
  }
  if (request.permits) validate_permits(*request.permits);
  if (request.cost == 0 || request.cost > base::kMaxCount) {
    fail("cost", request.cost, "1 to 2147483648 is needed");
  }
  if (!request.rates.empty()) validate_rates(request.rates, request.cost);
  validate_mode(request);
  require_not_negative("max_delay", request.max_delay);
  validate_dedupe(request);
  require_shown("label", request.label);
  validate_line(request.line);
}

void validate_group(std::span<const Request> requests) {
  if (requests.empty() || requests.size() > kMaxGroupSize) {
    fail("group request of", requests.size(), "1 to 16 gates are decided together");
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    validate_member(requests[i], requests.first(i));
  }
}

void validate_permits(const Permits& permits) {
  if (permits.limit == 0) fail("limit", 0U, "1 or more is needed");
  validate_limit(permits.limit);
  if (permits.weight == 0 || permits.weight > permits.limit) fail_weight(permits);
  validate_ttl(permits.ttl);
}

void validate_rates(std::span<const Rate> rates, std::uint32_t cost) {
  if (rates.size() > kMaxRates) fail("rates", rates.size(), "at most 8 tiers");
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!base::keeps_rules(rates[i], cost)) base::check_rate(rates[i], cost);
    require_distinct(rates[i], rates.first(i));
  }
}

void validate_limit(std::uint32_t limit) {
  if (limit > kMaxLimit) fail("limit", limit, "at most 2147483648");
}

void validate_ttl(Duration ttl) { require_span("ttl", ttl); }

void validate_pause(Duration duration, std::string_view reporter) {
  require_span("pause", duration);
  require_shown("reporter", reporter);
}

}  // namespace airlock

#include "airlock/rate.hpp"

#include <algorithm>
#include <charconv>

#include "airlock/error.hpp"
#include "base/quote.hpp"
#include "base/rate_check.hpp"

namespace airlock {
namespace {

using Algorithm = Rate::Algorithm;

constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kBurst = "burst=";

[[noreturn]] void fail(std::string_view text, std::string_view rule) {
  throw InvalidArgument("rate " + base::quoted(text) + ": " + std::string(rule));
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::string_view taken = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
  return taken;
}

std::uint32_t parse_count(std::string_view text, std::string_view digits) {
  std::uint32_t count = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, count);
  if (error != std::errc{} || stop != end || count == 0 || count > base::kMaxCount) {
    fail(text, "a whole number from 1 to 2147483648 is needed, not " + base::quoted(digits));
  }
  return count;
}

Duration parse_period(std::string_view text, std::string_view period) try {
  const bool starts_with_unit = !period.empty() && period.front() >= 'a' && period.front() <= 'z';
  const bool has_digits = period.find_first_of("0123456789") != std::string_view::npos;
  return parse_duration(starts_with_unit && !has_digits ? "1" + std::string(period)
                                                        : std::string(period));
} catch (const InvalidArgument&) {
  fail(text, "the period is a unit or a duration, such as s or 10m, not " + base::quoted(period));
}

void apply_option(Rate& rate, std::string_view text, std::string_view option) {
  const bool first = rate.algorithm == Algorithm::gcra && rate.burst == 0;
  if (first && option == "sliding") {
    rate.algorithm = Algorithm::sliding_window;
  } else if (first && option == "fixed") {
    rate.algorithm = Algorithm::fixed_window;
  } else if (first && option.starts_with(kBurst)) {
    rate.burst = parse_count(text, option.substr(kBurst.size()));
  } else {
    fail(text, "one of ,burst=N ,sliding ,fixed may follow, not " + base::quoted(option));
  }
}

std::string period_text(Duration period) {
  std::string text = to_text(period);
  const bool one_unit = text.size() >= 2 && text[0] == '1' &&
                        text.find_first_of("0123456789.", 1) == std::string::npos;
  return one_unit ? text.substr(1) : text;
}

}  // namespace

Rate Rate::parse(std::string_view text) {
  if (text == kUnlimited) return {.algorithm = Algorithm::no_limit};
  if (text.find('/') == std::string_view::npos) fail(text, "count/period is needed, such as 100/s");
  if (text.ends_with(',')) fail(text, "nothing follows the last comma");
  std::string_view rest = text;
  Rate rate;
  rate.count = parse_count(text, take_until(rest, '/'));
  rate.period = parse_period(text, take_until(rest, ','));
  while (!rest.empty()) apply_option(rate, text, take_until(rest, ','));
  base::check_rate(rate);
  return rate;
}

std::string Rate::text() const {
  if (algorithm == Algorithm::no_limit) return std::string(kUnlimited);
  std::string out = std::to_string(count) + '/' + period_text(period);
  if (algorithm == Algorithm::sliding_window) out += ",sliding";
  if (algorithm == Algorithm::fixed_window) out += ",fixed";
  if (burst != 0) out.append(1, ',').append(kBurst).append(std::to_string(burst));
  return out;
}

}  // namespace airlock

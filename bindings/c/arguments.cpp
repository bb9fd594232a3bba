#include <limits>

#include "internal.hpp"

namespace airlock::c {

std::string_view text_of(airlock_text text, const char* name) {
  if (text.data == nullptr && text.size != 0) throw_null(name);
  if (text.size > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
    throw InvalidArgument(std::string(name) + " is too long");
  }
  return {text.data, text.size};
}

Duration duration_of(std::int64_t microseconds, const char* name) {
  if (microseconds < 0) {
    throw InvalidArgument(std::string(name) + " is negative: " + std::to_string(microseconds) +
                          " us");
  }
  return Duration(microseconds);
}

bool flag_of(std::uint32_t flag, const char* name) {
  if (flag > 1) throw_not_a_value(name, flag);
  return flag == 1;
}

void check_size(const char* name, std::uint32_t size, std::size_t alignment) {
  if (size < kLeastSize || size > kMostSize || size % alignment != 0) throw_size(name, size);
}

void check_rest(const char* name, const void* given, std::size_t known, std::size_t size) {
  const auto* const bytes = static_cast<const unsigned char*>(given);
  for (std::size_t at = known; at < size; ++at) {
    if (bytes[at] == 0) continue;
    throw InvalidArgument(std::string(name) + " has a field that airlock " + version() +
                          " does not know, and it is not 0");
  }
}

Ask ask_of(const airlock_ask& ask) {
  if (ask.priority > kMaxPriority) throw_not_a_value("ask.priority", ask.priority);
  return {.weight = one_if_0(ask.weight),
          .priority = static_cast<std::uint16_t>(ask.priority),
          .label = text_of(ask.label, "ask.label"),
          .cost = one_if_0(ask.cost)};
}

namespace {

Rate rate_of(const airlock_rate& rate) {
  static_assert(static_cast<int>(Rate::Algorithm::gcra) == AIRLOCK_GCRA);
  static_assert(static_cast<int>(Rate::Algorithm::sliding_window) == AIRLOCK_SLIDING_WINDOW);
  static_assert(static_cast<int>(Rate::Algorithm::fixed_window) == AIRLOCK_FIXED_WINDOW);
  static_assert(static_cast<int>(Rate::Algorithm::no_limit) == AIRLOCK_NO_LIMIT);
  if (rate.reserved != 0) throw_not_a_value("rate.reserved", rate.reserved);
  return {
      .count = rate.count,
      .period = duration_of(rate.period, "rate.period"),
      .burst = rate.burst,
      .algorithm = enum_of<Rate::Algorithm>(rate.algorithm, AIRLOCK_NO_LIMIT, "rate.algorithm")};
}

}  // namespace

std::vector<Rate> rates_of(const airlock_rate* rates, std::size_t count) {
  if (count > kMaxRates) {
    throw InvalidArgument("rate_count is " + std::to_string(count) + ": at most " +
                          std::to_string(kMaxRates));
  }
  if (count != 0) (void)needed(rates, "rates");
  std::vector<Rate> result;
  result.reserve(count);
  for (std::size_t at = 0; at < count; ++at) result.push_back(rate_of(rates[at]));
  return result;
}

Token token_of(airlock_text text) { return Token::parse(text_of(text, "token")); }

}  // namespace airlock::c

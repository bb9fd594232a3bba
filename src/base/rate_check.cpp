#include "base/rate_check.hpp"

#include "airlock/error.hpp"

namespace airlock::base {
namespace {

[[noreturn]] void fail(const Rate& rate, const std::string& rule) {
  throw InvalidArgument("rate " + rate.text() + ": " + rule);
}

bool is_count(std::uint32_t count) { return count >= 1 && count <= kMaxCount; }

void check_burst(const Rate& rate) {
  if (rate.burst == 0) return;
  if (rate.algorithm != Rate::Algorithm::gcra) fail(rate, "only a GCRA rate has a burst");
  if (!is_count(rate.burst)) fail(rate, "the burst is 1 to 2147483648");
}

}  // namespace

void check_rate(const Rate& rate, std::uint32_t cost) {
  if (keeps_rules(rate, cost)) return;
  if (!is_count(rate.count)) fail(rate, "the count is 1 to 2147483648");
  if (rate.period < Duration(1)) fail(rate, "the period is at least 1us");
  if (rate.period > kMaxTtl) fail(rate, "the period is at most " + to_text(kMaxTtl));
  check_burst(rate);
  if (!keeps_rules(rate)) {
    fail(rate,
         "burst (else count) times period is at most 2^52us; "
         "take a shorter period or a smaller burst");
  }
  fail(rate, "cost times period is at most 2^52us, the cost is " + std::to_string(cost));
}

}  // namespace airlock::base

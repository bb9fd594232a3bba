#include "base/rate_check.hpp"

#include "airlock/error.hpp"
#include "airlock/request.hpp"

namespace airlock::base {
namespace {

constexpr std::int64_t kMaxProduct = std::int64_t{1} << 52;

[[noreturn]] void fail(const Rate& rate, const std::string& rule) {
  throw InvalidArgument("rate " + rate.text() + ": " + rule);
}

bool is_count(std::uint32_t count) { return count >= 1 && count <= kMaxCount; }

bool product_fits(std::uint32_t amount, Duration period) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(std::int64_t{amount}, period.count(), &product) &&
         product <= kMaxProduct;
}

void check_burst(const Rate& rate) {
  if (rate.burst == 0) return;
  if (rate.algorithm != Rate::Algorithm::gcra) fail(rate, "only a GCRA rate has a burst");
  if (!is_count(rate.burst)) fail(rate, "the burst is 1 to 2147483648");
}

}  // namespace

void check_rate(const Rate& rate) {
  if (rate.algorithm == Rate::Algorithm::no_limit) return;
  if (!is_count(rate.count)) fail(rate, "the count is 1 to 2147483648");
  if (rate.period < Duration(1)) fail(rate, "the period is at least 1us");
  if (rate.period > kMaxTtl) fail(rate, "the period is at most " + to_text(kMaxTtl));
  check_burst(rate);
  const std::uint32_t burst = rate.burst != 0 ? rate.burst : rate.count;
  if (!product_fits(burst, rate.period)) {
    fail(rate,
         "burst (else count) times period is at most 2^52us; "
         "take a shorter period or a smaller burst");
  }
}

void check_cost(const Rate& rate, std::uint32_t cost) {
  if (rate.algorithm == Rate::Algorithm::no_limit || product_fits(cost, rate.period)) return;
  fail(rate, "cost times period is at most 2^52us, the cost is " + std::to_string(cost));
}

}  // namespace airlock::base

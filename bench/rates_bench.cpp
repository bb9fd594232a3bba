#include <array>
#include <span>

#include "rows.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

using std::chrono::seconds;

// More per second than any machine asks for, so that every decision is a yes and takes.
constexpr std::array kTiers = {Rate{.count = 900'000'000, .period = seconds(1)},
                               Rate{.count = 900'000'000, .period = seconds(2)},
                               Rate{.count = 900'000'000, .period = seconds(5)}};

std::unique_ptr<Subject> asking(std::optional<Permits> permits, std::span<const Rate> rates) {
  return std::make_unique<AskOneGate>(Request{
      .gate = "erp", .visitor = VisitorId::named("bench"), .permits = permits, .rates = rates});
}

}  // namespace

void add_rates_rows(std::vector<Row>& rows) {
  rows.push_back({.name = "memory: rate decision, one GCRA tier, take",
                  .against = "one (std::mutex pair + steady_clock read)",
                  .aim = 2.0,
                  .subject = [] { return asking({}, std::span(kTiers).first(1)); },
                  .reference = [] { return std::make_unique<MutexAndClock>(1); }});
  rows.push_back({.name = "memory: acquire + release, permits + 3 GCRA tiers",
                  .against = "permits alone",
                  .aim = 1.5,
                  .subject = [] { return asking(permits(10), kTiers); },
                  .reference = [] { return asking(permits(10), {}); }});
}

}  // namespace airlock::bench

// A vendor's API: each tenant may have 10 calls in flight and make 100 a second.
// expect: acme: 10 in flight, the next: full
// expect: acme: 100 calls made, the next: rate, again in 10ms
// expect: acme: 10ms later: ok
// expect: free now: acme 10, umbrella 9
#include <array>
#include <iostream>
#include <vector>

#include "airlock/bulkhead.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);

  // [tenants]
  airlock::KeyedBulkhead vendor{
      store, "vendor-api", {.limit = 10, .rates = {{.count = 100, .period = 1s}}}};

  const auto get = [&](std::string_view tenant) {
    return vendor.try_call(tenant, [] { return "ok"; });
  };
  // [/tenants]

  std::vector<airlock::Lease> in_flight;
  while (auto lease = vendor.try_acquire("acme")) in_flight.push_back(std::move(*lease));
  std::cout << "acme: " << in_flight.size() << " in flight, the next: ";
  std::cout << airlock::to_text(get("acme").error().reason) << "\n";

  in_flight.clear();
  int calls = 10;  // A refusal is not charged.
  auto page = get("acme");
  for (; page; page = get("acme")) ++calls;
  std::cout << "acme: " << calls
            << " calls made, the next: " << airlock::to_text(page.error().reason) << ", again in "
            << airlock::to_text(page.error().retry_after) << "\n";

  clock.advance(page.error().retry_after);
  std::cout << "acme: 10ms later: " << get("acme").value() << "\n";

  // [least-loaded]
  airlock::Lease busy = vendor.acquire("umbrella");
  const std::array<std::string_view, 2> tenants = {"acme", "umbrella"};
  const std::vector<std::uint32_t> free = vendor.available_slots(tenants);  // One question.
  // [/least-loaded]
  std::cout << "free now: acme " << free[0] << ", umbrella " << free[1] << "\n";
}

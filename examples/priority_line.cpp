// expect: batch report: place 1 of 1
// expect: free account: place 1 of 2
// expect: vip: place 1 of 3
// expect: another vip: place 2 of 4
// expect: served: vip, another vip, free account, batch report
// A line by priority: higher first, in order of arrival among equals.

#include <iostream>
#include <string>
#include <vector>

#include "airlock/testing.hpp"

namespace {

// [ask]
airlock::Answer ask(const airlock::Store& store, const std::string& who, std::uint16_t priority) {
  airlock::Request request{.gate = "erp",
                           .visitor = airlock::VisitorId::named(who),
                           .label = who,
                           .permits = airlock::Permits{.limit = 1}};
  request.line.join = true;  // Queued instead of refused.
  request.line.order = airlock::Order::priority;
  request.line.priority = priority;
  return store.admit(request);
}
// [/ask]

}  // namespace

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);
  airlock::Token inside = std::get<airlock::Granted>(ask(store, "somebody", 0)).token;

  const std::vector<std::pair<std::string, std::uint16_t>> visitors = {
      {"batch report", 0}, {"free account", 10}, {"vip", 100}, {"another vip", 100}};
  for (const auto& [who, priority] : visitors) {
    const auto place = std::get<airlock::Queued>(ask(store, who, priority));
    std::cout << who << ": place " << place.position << " of " << place.waiting << "\n";
  }

  std::cout << "served:";
  for (std::size_t i = 0; i < visitors.size(); ++i) {
    // [hand-over]
    store.release(inside);  // Hands the slot to the head of the line, in the same step.
    const airlock::HolderView next = store.look("erp")->holders.front();
    // [/hand-over]
    std::cout << (i == 0 ? " " : ", ") << next.label;
    inside = std::get<airlock::Granted>(ask(store, next.label, 0)).token;  // This ask is the claim.
  }
  std::cout << "\n";
}

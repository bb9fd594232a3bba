// A waiting room for visitors who come back with a cookie: position, hand-over, claim, missed.
// expect: ann: in
// expect: bob: place 1 of 1
// expect: cat: place 2 of 2
// expect: bob has 10s to claim
// expect: bob: in
// expect: cat has 10s to claim
// expect: cat did not come, 1 missed
// expect: dan: in
#include <iostream>
#include <string>

#include "airlock/testing.hpp"

using namespace std::chrono_literals;

// [ask]
static airlock::Answer ask(airlock::Store& store, const std::string& cookie) {
  airlock::Request request{.gate = "tickets",
                           .visitor = airlock::VisitorId::named(cookie),  // Twice is once.
                           .label = cookie,
                           .permits = airlock::Permits{.limit = 1, .ttl = 5min}};
  request.line.join = true;
  request.line.patience = 1min;  // A browser that stopped asking has left.
  request.line.claim_window = 10s;
  request.hold = airlock::Hold::detached;  // It belongs to the visitor, not to this process.
  return store.admit(request);
}
// [/ask]

static airlock::Token enter(airlock::Store& store, const std::string& who) {
  const airlock::Answer answer = ask(store, who);
  if (const auto* queued = std::get_if<airlock::Queued>(&answer)) {
    std::cout << who << ": place " << queued->position << " of " << queued->waiting << "\n";
    return {.gate = "tickets"};
  }
  std::cout << who << ": in\n";
  return std::get<airlock::Granted>(answer).token;
}

static void leave(airlock::Store& store, const airlock::Token& token) {
  store.release(token);  // Hands over in the same step.
  const airlock::HolderView next = store.look("tickets")->holders.front();
  std::cout << next.label << " has " << airlock::to_text(next.remaining) << " to claim\n";
}

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);
  const airlock::Token ann = enter(*store, "ann");
  enter(*store, "bob");
  enter(*store, "cat");
  leave(*store, ann);
  leave(*store, enter(*store, "bob"));  // To ask again is to claim.
  clock.advance(11s);
  std::cout << "cat did not come, " << store->look("tickets")->counters.missed << " missed\n";
  enter(*store, "dan");
}

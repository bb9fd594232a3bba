// expect: 5 wait, 2 at a time may enter
// expect: everybody entered once
// A lottery: all waiters have the same chance, however early or often they came. There is no
// supervisor: each release draws the next one in the same step.

#include <iostream>
#include <set>
#include <string>

#include "airlock/testing.hpp"

namespace {

// [ask]
airlock::Answer ask(const airlock::Store& store, const std::string& who) {
  airlock::Request request{.gate = "ticket-sale",
                           .visitor = airlock::VisitorId::named(who),
                           .label = who,
                           .permits = airlock::Permits{.limit = 2}};
  request.line.join = true;
  request.line.order = airlock::Order::lottery;
  return store.admit(request);
}
// [/ask]

}  // namespace

int main() {
  airlock::testing::ManualClock clock;  // So that nobody is too late on a slow machine.
  auto store = airlock::testing::memory_store(clock);
  for (const char* who : {"ann", "bob", "cid", "dan", "eve", "fay", "gus"}) {
    (void)ask(store, who);  // The first two are in.
    (void)ask(store, who);  // Asking again is no second ticket.
  }
  std::cout << store.look("ticket-sale")->counts.waiting << " wait, 2 at a time may enter\n";

  // [draw]
  std::multiset<std::string> entered;
  for (auto view = store.look("ticket-sale"); !view->holders.empty();
       view = store.look("ticket-sale")) {
    const std::string who = view->holders.front().label;
    const auto granted =
        std::get<airlock::Granted>(ask(store, who));  // Claims what was drawn for them.
    entered.insert(who);
    store.release(granted.token);
  }
  // [/draw]
  if (entered == std::multiset<std::string>{"ann", "bob", "cid", "dan", "eve", "fay", "gus"}) {
    std::cout << "everybody entered once\n";
  }
}

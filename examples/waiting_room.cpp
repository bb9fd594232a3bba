// A waiting room for visitors that return with a cookie, to any process: place, claim, missed.
// expect: ann: in
// expect: bob: place 1 of 1
// expect: cat: place 2 of 2
// expect: bob: place 1 of 2
// expect: bob: in
// expect: cat: missed, to the end of the line
// expect: cat: in
#include <iostream>
#include <string>

#include "airlock/airlock.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

namespace {

// [room]
airlock::Airlock tickets(const airlock::Store& store) {
  return {store, "tickets", {.limit = 1, .ttl = 5min, .patience = 1min}};  // In every process.
}
// [/room]

std::string show(const airlock::Queued& place) {
  return "place " + std::to_string(place.position) + " of " + std::to_string(place.waiting);
}

// [arrive]
// The first request of a visitor. A second click finds the same place.
std::string arrive(const airlock::Airlock& room, const std::string& cookie) {
  const airlock::Answer answer = room.admit(airlock::VisitorId::named(cookie), {.label = cookie});
  if (const auto* queued = std::get_if<airlock::Queued>(&answer)) return show(*queued);
  if (std::holds_alternative<airlock::Refused>(answer)) return "try again later";
  return "in";  // The token has a text: std::get<Granted>(answer).token.text().
}
// [/arrive]

// [return]
// Every later request: the page asks again after `next_check`, or when it was notified.
std::string come_back(const airlock::Airlock& room, const std::string& cookie) {
  const airlock::Claim claim = room.claim(airlock::VisitorId::named(cookie));
  switch (claim.status) {
    case airlock::Claim::Status::claimed:
      return "in";
    case airlock::Claim::Status::unavailable:
      return show(*claim.queued);
    case airlock::Claim::Status::missed:
      return "missed, to the end of the line";  // arrive() again.
  }
  return {};
}
// [/return]

}  // namespace

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);
  const airlock::Airlock room = tickets(store);
  const airlock::Airlock another = tickets(store);  // A second server of the same line.

  for (const char* who : {"ann", "bob", "cat"}) {
    std::cout << who << ": " << arrive(room, who) << "\n";
  }
  std::cout << "bob: " << come_back(another, "bob") << "\n";

  const airlock::Claim ann = another.claim(airlock::VisitorId::named("ann"));
  store.release(ann.granted->token);  // Hands over in the same step.
  std::cout << "bob: " << come_back(another, "bob") << "\n";

  clock.advance(10min);  // Bob's ttl ends, cat has not asked for longer than its patience.
  std::cout << "cat: " << come_back(room, "cat") << "\n";
  std::cout << "cat: " << arrive(room, "cat") << "\n";
}

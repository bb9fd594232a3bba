#include "subjects.hpp"

#include <numeric>
#include <utility>
#include <variant>

namespace airlock::bench {

void MutexAndClock::run(std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations * times_; ++i) {
    const std::lock_guard lock(mutex_);
    last_ = std::chrono::steady_clock::now();
    ++reads_;
  }
}

void MutexAndClock::check(std::uint64_t operations) {
  require(reads_ == operations * times_, "as many clock reads as were asked for");
  require(last_ <= std::chrono::steady_clock::now(), "the clock was read");
}

AskOneGate::AskOneGate(const Request& request) : AskOneGate(open_store("memory:"), request) {}
AskOneGate::AskOneGate(Store store, const Request& request)
    : store_(std::move(store)), request_(request) {}

void AskOneGate::run(std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) ask();
}

void AskOneGate::ask() {
  const Answer answer = store_.admit(request_);
  const auto& granted = std::get<Granted>(answer);
  if (request_.permits && store_.release(granted.token)) ++released_;
}

void AskOneGate::check(std::uint64_t operations) {
  const auto gate = store_.look(request_.gate);
  require(gate.has_value(), "the gate is known");
  require_grants(*gate, operations);
  require(released_ == (request_.permits ? operations : 0), "every admission was given back");
  require(gate->counts.holders == 0, "nobody holds at the end");
  require(gate->rates.size() == request_.rates.size(), "every tier was charged");
}

void require_grants(const GateView& gate, std::uint64_t grants) {
  const Counters& counters = gate.counters;
  require(counters.granted == grants, "as many admissions as were asked for");
  require(std::reduce(counters.refused.begin(), counters.refused.end()) == 0, "no refusal");
  require(counters.expired + counters.revoked + counters.died == 0, "no lease ended by itself");
  require(counters.missed + counters.abandoned == 0, "no waiter was lost");
}

}  // namespace airlock::bench

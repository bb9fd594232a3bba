// expect: erp granted
// expect: erp refused: full
// Observing what a gate decides, for a log or for your own counters.

#include "airlock/observer.hpp"

#include <iostream>

#include "airlock/bulkhead.hpp"

int main() {
  auto store = airlock::open_store("memory:");

  // [observer]
  const auto log = [](const airlock::Event& event) {
    std::cout << event.gate << " " << airlock::to_text(event.kind);
    if (event.kind == airlock::Event::Kind::refused) {
      std::cout << ": " << airlock::to_text(event.reason);
    }
    std::cout << "\n";
  };
  airlock::Bulkhead erp{store, "erp", {.limit = 1, .observer = log}};
  // [/observer]

  const auto first = erp.try_acquire();
  const auto second = erp.try_acquire();
  return first && !second ? 0 : 1;
}

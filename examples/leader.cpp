// One of several leads. It stops when an operator revokes its lease, and the next one takes over.
// expect: ann leads
// expect: ann stops: revoked
// expect: bob leads, with a higher fence
#include <iostream>
#include <thread>

#include "airlock/airlock.hpp"

using namespace std::chrono_literals;

namespace {

// [lead]
void lead(airlock::Lease lease) {
  const std::stop_token lost = lease.lost();
  while (!lost.stop_requested()) {
    std::this_thread::sleep_for(1ms);  // A step of the work, with lease.fence() at each write.
  }
}  // Releases: the next one need not wait for the ttl.
// [/lead]

}  // namespace

int main() {
  auto store = airlock::open_store("memory:");

  // [stand]
  airlock::Airlock office{store, "leader", {.limit = 1, .ttl = 10s, .max_wait = 1h}};
  airlock::Outcome<airlock::Lease> ann = office.enter();
  airlock::Place bob = office.join();  // Stands by; bob.wait() returns when it is his turn.
  // [/stand]
  if (!ann) return 1;
  const airlock::Fence fence = ann->fence();
  std::cout << "ann leads\n";
  std::jthread work(lead, std::move(*ann));

  // [revoke]
  store.revoke("leader", std::nullopt, airlock::Revoke::graceful);
  // [/revoke]
  work.join();
  std::cout << "ann stops: revoked\n";

  const airlock::Outcome<airlock::Lease> next = bob.wait();
  if (!next || next->fence() <= fence) return 1;
  std::cout << "bob leads, with a higher fence\n";
}

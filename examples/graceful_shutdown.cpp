// The end of a process: no new callers, waits end, holders finish, all is released.
// expect: waiting: this process has closed the store
// expect: new: this process has closed the store
// expect: drained: no, one is inside
// expect: drained: yes
// expect: flushed: yes
#include <iostream>
#include <thread>

#include "airlock/airlock.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"

using namespace std::chrono_literals;

namespace {

template <typename Work>
void show(const char* who, Work work) {
  try {
    work();
  } catch (const airlock::StoreError& error) {
    if (error.kind() != airlock::StoreError::Kind::closed) throw;
    std::cout << who << ": this process has closed the store\n";
  }
}

}  // namespace

int main() {
  auto store = airlock::open_store("memory:");
  airlock::Airlock erp{store, "legacy-erp", {.limit = 1, .max_wait = 1h}};
  airlock::Outcome<airlock::Lease> inside = erp.enter();
  if (!inside) return 1;
  airlock::Place place = erp.join();

  store.close();  // For example on SIGTERM, but not in the signal handler.
  show("waiting", [&] { (void)place.wait(); });
  show("new", [&] { (void)erp.try_enter(); });

  if (!store.drain(0s)) std::cout << "drained: no, one is inside\n";
  std::jthread work([lease = std::move(*inside)] { std::this_thread::sleep_for(5ms); });

  // [end]
  const bool drained = store.drain(10s);  // Waits until all leases are released.
  const bool flushed = store.flush(1s);   // Waits until the store has the releases.
  // [/end]
  std::cout << "drained: " << (drained ? "yes" : "no") << "\n";
  std::cout << "flushed: " << (flushed ? "yes" : "no") << "\n";
}

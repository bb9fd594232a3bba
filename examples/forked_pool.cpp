// A pool of forked workers: the store is opened before fork(), and a child owns none of the leases.
// expect: worker: the lease is empty, 1 of 2 slots free, call returned 7
// expect: parent: the lease is valid, 1 of 2 slots free
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "airlock/bulkhead.hpp"
#include "airlock/shm.hpp"

namespace {

void report(const char* who, const airlock::Bulkhead& erp, const airlock::Lease& lease) {
  std::cout << who << ": the lease is " << (lease.valid() ? "valid" : "empty") << ", "
            << erp.available_slots() << " of " << erp.limit() << " slots free";
}

}  // namespace

int main() {
  const std::string uri = "shm:forked-pool-" + std::to_string(getpid());
  // [fork]
  // One limit for all processes. What a process holds is free as soon as it is dead, whatever ended
  // it. (With `memory:` each process would have a separate limit; nothing else would change.)
  auto store = airlock::open_store(uri);
  airlock::Bulkhead erp{store, "legacy-erp", {.limit = 2}};
  airlock::Lease lease = erp.acquire();

  const pid_t worker = fork();
  if (worker == 0) {
    report("worker", erp, lease);
    lease.release();  // Does nothing: it is the parent's.
    std::cout << ", call returned " << erp.call([] { return 7; }) << "\n";
    return 0;
  }
  // [/fork]

  int status = 0;
  if (waitpid(worker, &status, 0) != worker || status != 0) return 1;
  report("parent", erp, lease);
  std::cout << "\n";
  airlock::remove_shm_store(uri);
}

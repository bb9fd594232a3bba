// expect: group: both or none, 0 at disk/read
// expect: chain: the host's slot is given back, 0 at uploads
// Several gates: in one step if they are of one group, else in order and undone on refusal.

#include <iostream>

#include "airlock/lock_seal.hpp"
#include "airlock/multi_seal.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"

int main() {
  auto host = airlock::open_store("memory:");   // Would be shm: on a real host,
  auto fleet = airlock::open_store("memory:");  // and redis: for the fleet.

  // [group]
  airlock::SemaphoreSeal read(host, "disk/read", {.limit = 4});
  airlock::LockSeal write(host, "disk/write");
  airlock::GroupSeal copy({read, write});

  auto obstacle = write.try_acquire();
  if (!obstacle || copy.try_acquire()) return 1;
  std::cout << "group: both or none, " << host.look("disk/read")->counts.in_use
            << " at disk/read\n";
  write.release(obstacle->token);

  auto held = copy.try_acquire();
  if (!held) return 1;
  copy.release(*held);
  // [/group]

  // [chain]
  airlock::SemaphoreSeal slots(host, "uploads", {.limit = 4});
  airlock::RateLimiterSeal quota(fleet, "vendor", {airlock::Rate::parse("1/m")});
  airlock::ChainedSeal upload(slots, {quota});

  auto first = upload.try_acquire();
  if (!first) return 1;
  upload.release(*first);              // The slot; a quota is not released.
  if (upload.try_acquire()) return 1;  // The quota refuses, and the slot is free again.
  // [/chain]
  std::cout << "chain: the host's slot is given back, " << host.look("uploads")->counts.in_use
            << " at uploads\n";
}

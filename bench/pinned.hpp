#pragma once

#include <sched.h>

#include <cstdint>

namespace airlock::bench {

// Where threads and processes run. Who is woken on which core is the scheduler's choice, lasts for a whole row, and
// makes more of a difference than what is measured: where a row's sides sleep and are woken, it must not choose.
enum class Cores : std::uint8_t {
  any,
  one,      // All of them on the same: to wake somebody is a switch, not a message to another core.
  servers,  // The first is for Redis servers,
  clients,  // the others for who talks to them; any if there is only one.
};

// This thread, and what it starts, run there for as long as this lives.
class Pinned {
 public:
  explicit Pinned(Cores cores);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned();

 private:
  cpu_set_t before_;
};

}  // namespace airlock::bench

#include "pinned.hpp"

#include <cstddef>

namespace airlock::bench {
namespace {

cpu_set_t current() {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)sched_getaffinity(0, sizeof set, &set);
  return set;
}

// Of those that this program may use at all.
cpu_set_t chosen(Cores cores) {
  static const cpu_set_t kAll = current();
  if (cores == Cores::any || CPU_COUNT(&kAll) < 2) return kAll;
  std::size_t first = 0;
  while (!CPU_ISSET(first, &kAll)) ++first;
  cpu_set_t set = kAll;
  if (cores == Cores::clients) {
    CPU_CLR(first, &set);
  } else {
    CPU_ZERO(&set);
    CPU_SET(first, &set);
  }
  return set;
}

}  // namespace

Pinned::Pinned(Cores cores) : before_(current()) {
  const cpu_set_t set = chosen(cores);
  (void)sched_setaffinity(0, sizeof set, &set);
}

Pinned::~Pinned() { (void)sched_setaffinity(0, sizeof before_, &before_); }

}  // namespace airlock::bench

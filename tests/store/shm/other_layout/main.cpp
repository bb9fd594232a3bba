#include <cstdio>
#include <exception>

#include "base/clock.hpp"
#include "store/shm/shm_store.hpp"

// Of a build with other records: uses the segment in a folder, or says why it does not.
int main(int /*argc*/, char** arguments) {
  try {
    const auto store = airlock::shm::make_store({.dir = arguments[1], .size = 16U << 20},
                                                airlock::Clock::system());
    (void)store.list();
    return 0;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}

#include <cstring>

#include "airlock/error.hpp"
#include "airlock/store.hpp"

#ifndef WITH_REDIS
#define WITH_REDIS 1
#endif

int main() {
  auto store = airlock::open_store("memory:");
  if (!store) return 1;
  try {
    return airlock::open_store("redis://localhost") && WITH_REDIS ? 0 : 1;
  } catch (const airlock::InvalidArgument& error) {
    return std::strstr(error.what(), "redis: is not built into") != nullptr && !WITH_REDIS ? 0 : 1;
  }
}

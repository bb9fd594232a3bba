#pragma once

#include <string>
#include <vector>

namespace airlock::bench {

// What the store keeps for one more holder, waiter or gate, where there are 10 000 already: of memory what is resident,
// of shm the blocks of its file, of Redis what its server says.
struct Size {
  std::string store;
  std::string thing;
  double bytes;
};

[[nodiscard]] std::vector<Size> measure_sizes();

}  // namespace airlock::bench

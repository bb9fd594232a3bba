#pragma once

#include <cstdint>

#include "airlock/name.hpp"

namespace airlock {

// Implemented by stores whose gates live on several servers, each of which may fail by itself. A caller
// that renews or releases at several servers uses a thread for each, so that one that does not answer
// delays nothing at the others.
class Servers {
 public:
  // The server that has the gate, for all that is known now; 0: not known, or there is only one.
  // Never waits for the network.
  [[nodiscard]] virtual std::uint64_t server_of(const GateName& gate) = 0;

 protected:
  ~Servers() = default;
};

}  // namespace airlock

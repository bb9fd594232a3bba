#include "airlock/version.hpp"

namespace airlock {

const char* version() noexcept { return AIRLOCK_VERSION; }

}  // namespace airlock

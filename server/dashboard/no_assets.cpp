#include "dashboard/assets.hpp"

namespace airlock::server {

std::span<const Asset> assets() noexcept { return {}; }

}  // namespace airlock::server

#pragma once

#include <span>
#include <string_view>

namespace airlock::server {

// A file of the page, as it was when the server was built.
struct Asset {
  std::string_view name;
  std::string_view content;
};

// Empty where the server was built without the page (AIRLOCK_DASHBOARD=OFF).
[[nodiscard]] std::span<const Asset> assets() noexcept;

}  // namespace airlock::server

#pragma once

#include <string>
#include <string_view>

namespace airlock::redis {

// A field of what INFO says; empty: it does not say.
[[nodiscard]] inline std::string_view info_value(std::string_view info, std::string_view field) {
  const std::string key = std::string("\n").append(field).append(":");
  const std::size_t at = info.find(key);
  if (at == std::string_view::npos) return {};
  info.remove_prefix(at + key.size());
  return info.substr(0, info.find('\r'));
}

}  // namespace airlock::redis

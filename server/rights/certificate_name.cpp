#include "rights/certificate_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace airlock::server {

std::optional<std::string> parse_certificate_name(std::string_view text) {
  constexpr std::array<std::string_view, 4> kKinds = {"DNS:", "URI:", "EMAIL:", "CN="};
  const auto* const kind =
      std::find_if(kKinds.begin(), kKinds.end(), [text](std::string_view each) {
        return text.starts_with(each) && text.size() > each.size();
      });
  if (kind == kKinds.end() || text.find('*') != std::string_view::npos) return std::nullopt;
  std::string name(text);
  if (*kind != "DNS:") return name;
  std::transform(name.begin() + 4, name.end(), name.begin() + 4,
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace airlock::server

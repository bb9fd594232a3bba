#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace airlock::server {

// What a caller may do at a gate. No role includes another.
enum class Role : std::uint8_t {
  none,   // Needs nothing: probes.
  admit,  // Ask for admission, renew, release, leave.
  define,  // Bring limits, rates, an order or a longer ttl than the [[gate]] of the configuration has.
  observe,  // See a gate with its holders and its line.
  operate,  // Change limits, pause, revoke, purge.
};

[[nodiscard]] std::string_view role_name(Role role) noexcept;

// The roles of a principal: patterns of gates by role.
class Grants {
 public:
  // Of everybody where the configuration names no principals: every role at every gate.
  [[nodiscard]] static const std::shared_ptr<const Grants>& all();

  void add(Role role, std::vector<std::string> patterns);

  [[nodiscard]] bool allows(Role role, std::string_view gate) const;
  [[nodiscard]] bool allows_somewhere(Role role) const noexcept;

 private:
  static constexpr std::size_t kRoles = 5;

  std::array<std::vector<std::string>, kRoles> patterns_;
};

using GrantsPtr = std::shared_ptr<const Grants>;

}  // namespace airlock::server

#include "rights/role.hpp"

#include <algorithm>
#include <utility>

#include "config/gate_rules.hpp"

namespace airlock::server {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"none", "admit", "define", "observe",
                                                    "operate"};

std::size_t index_of(Role role) noexcept { return static_cast<std::size_t>(role); }

}  // namespace

std::string_view role_name(Role role) noexcept { return kNames.at(index_of(role)); }

const std::shared_ptr<const Grants>& Grants::all() {
  static const std::shared_ptr<const Grants> kAll = [] {
    auto grants = std::make_shared<Grants>();
    for (const Role role : {Role::admit, Role::define, Role::observe, Role::operate})
      grants->add(role, {"*"});
    return grants;
  }();
  return kAll;
}

void Grants::add(Role role, std::vector<std::string> patterns) {
  patterns_.at(index_of(role)) = std::move(patterns);
}

bool Grants::allows(Role role, std::string_view gate) const {
  const auto& patterns = patterns_.at(index_of(role));
  return std::any_of(patterns.begin(), patterns.end(), [gate](const std::string& pattern) {
    return pattern == "*" || glob_matches(pattern, gate);
  });
}

bool Grants::allows_somewhere(Role role) const noexcept {
  return !patterns_.at(index_of(role)).empty();
}

}  // namespace airlock::server

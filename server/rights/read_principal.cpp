#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "rights/certificate_name.hpp"
#include "rights/rights.hpp"

// [[principal]] of airlock.toml.

namespace airlock::server {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxEntry = 16'384;  // Of the databases of users and groups.
constexpr std::array kGranted = {Role::admit, Role::define, Role::observe, Role::operate};

bool is_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<unsigned> parse_id(std::string_view text) {
  unsigned id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_id = error == std::errc() && end == text.data() + text.size() &&
                     id != std::numeric_limits<unsigned>::max();
  return is_id ? std::optional(id) : std::nullopt;
}

std::optional<unsigned> find_user(const std::string& name) {
  std::array<char, kMaxEntry> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? std::optional(entry.pw_uid) : std::nullopt;
}

std::optional<unsigned> find_group(const std::string& name) {
  std::array<char, kMaxEntry> buffer{};
  group entry{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? std::optional(entry.gr_gid) : std::nullopt;
}

// The value is never said: it may be the token itself.
void read_tokens(TableReader& table, Principal& principal) {
  for (const std::string& each : table.texts("tokens")) {
    const auto hash = parse_token_hash(each);
    if (!hash)
      table.fail(
          "tokens",
          "has to be \"sha256:\" and 64 hexadecimal digits, as `airlock-server token` prints");
    principal.tokens.push_back(*hash);
  }
}

void read_users(TableReader& table, Principal& principal) {
  for (const std::string& each : table.texts("users")) {
    if (each == "*") {
      principal.is_any_user = true;
      continue;
    }
    const auto id = is_number(each) ? parse_id(each) : find_user(each);
    if (!id) table.fail("users", each + " is no user of this machine, no number and not *");
    principal.users.push_back(*id);
  }
  for (const std::string& each : table.texts("groups")) {
    const auto id = is_number(each) ? parse_id(each) : find_group(each);
    if (!id) table.fail("groups", each + " is no group of this machine and no number");
    principal.groups.push_back(*id);
  }
}

void read_certificates(TableReader& table, Principal& principal) {
  for (const std::string& each : table.texts("certificates")) {
    const auto name = parse_certificate_name(each);
    if (!name)
      table.fail("certificates", "has to be DNS:NAME, URI:NAME, EMAIL:NAME or CN=NAME, without *");
    principal.certificates.push_back(*name);
  }
}

void read_grants(TableReader& table, Principal& principal) {
  bool has_role = false;
  for (const Role role : kGranted) {
    auto patterns = table.texts(role_name(role).data());
    has_role = has_role || !patterns.empty();
    principal.grants.add(role, std::move(patterns));
  }
  if (!has_role)
    table.fail("name", "has no role; admit, define, observe and operate are lists of gates");
}

Principal read_principal(TableReader& table) {
  Principal principal{.name = table.needed("name", table.text("name", kMaxName))};
  if (!is_name(principal.name)) table.fail("name", "has letters, digits, '.', '_' and '-' only");
  read_tokens(table, principal);
  read_certificates(table, principal);
  read_users(table, principal);
  principal.is_loopback = table.flag("loopback").value_or(false);
  if (principal.tokens.empty() && principal.certificates.empty() && principal.users.empty() &&
      principal.groups.empty() && !principal.is_any_user && !principal.is_loopback) {
    table.fail("name", "needs tokens, certificates, users, groups or loopback = true");
  }
  read_grants(table, principal);
  return principal;
}

}  // namespace

void Rights::read(TableReader& file) {
  file.for_each("principal", [this](TableReader& table) {
    auto principal = std::make_shared<const Principal>(read_principal(table));
    const bool is_taken =
        std::any_of(principals_.begin(), principals_.end(),
                    [&](const PrincipalPtr& each) { return each->name == principal->name; });
    if (is_taken) table.fail("name", principal->name + " is also that of another [[principal]]");
    principals_.push_back(std::move(principal));
  });
}

}  // namespace airlock::server

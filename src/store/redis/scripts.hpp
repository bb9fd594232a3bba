#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace airlock::redis {

// One step as the server runs it: lua/<name>.lua behind its prelude.
struct Script {
  std::string_view name;
  std::string_view sha1;
  std::string_view text;
};

// In the order of the table.
enum class Step : std::size_t {
  admit,
  admit_all,
  leave,
  mark_absent,
  refund,
  release,
  renew,
  set_hold,
  watch,
  settle,
  look,
  visits,
  read_gates,
  survey,
  holds,
  set_limit,
  pause,
  resume,
  revoke,
  purge,
  rights,
  identity,
};

using Scripts = std::array<Script, static_cast<std::size_t>(Step::identity) + 1>;

// Those that ask the server for the time; made at build time from lua/.
[[nodiscard]] const Scripts& scripts() noexcept;

}  // namespace airlock::redis

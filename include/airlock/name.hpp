#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "airlock/version.hpp"

namespace airlock {

// The name of a gate: 1 to 200 bytes of [A-Za-z0-9_.:-], optionally `group/name`. Gates of one
// group can be decided together in one step. Two names never share state.
//
// Always valid, held inline: copying one never allocates.
class GateName {
 public:
  static constexpr std::size_t kMaxSize = 200;

  // InvalidArgument, naming the rule that is broken. Implicit: a name is its text.
  // NOLINTBEGIN(google-explicit-constructor): as said
  GateName(std::string_view text) { assign(text); }
  GateName(const char* text) { assign(text); }
  GateName(const std::string& text) { assign(text); }
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }
  [[nodiscard]] std::string text() const { return std::string(view()); }

  // What is decided together: the part before the slash, or the whole name.
  [[nodiscard]] std::string_view group() const noexcept { return {text_.data(), group_size_}; }

  friend bool operator==(const GateName& a, const GateName& b) noexcept {
    return a.view() == b.view();
  }
  template <typename Char, typename Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const GateName& name) {
    return out << name.view();
  }
  friend std::strong_ordering operator<=>(const GateName& a, const GateName& b) noexcept {
    return a.view() <=> b.view();
  }

 private:
  AIRLOCK_EXPORT void assign(std::string_view text);

  std::array<char, kMaxSize> text_;  // Not cleared: that would cost more than the rest.
  std::uint8_t size_ = 0;
  std::uint8_t group_size_ = 0;
};

// A gate for one key out of many: `prefix:key` where the key is at most 64 bytes of the characters
// above, without `:` and no `-` first; `prefix:-` and a digest otherwise. Different (prefix, key)
// pairs give different names, whatever bytes the key has. The prefix is a legal name of at most 134
// bytes, else InvalidArgument.
[[nodiscard]] AIRLOCK_EXPORT GateName gate_name(std::string_view prefix, std::string_view key);

}  // namespace airlock

template <>
struct std::hash<airlock::GateName> {
  std::size_t operator()(const airlock::GateName& name) const noexcept {
    return std::hash<std::string_view>()(name.view());
  }
};

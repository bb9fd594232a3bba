#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "airlock/duration.hpp"

namespace airlock {

enum class StoreKind : std::uint8_t { memory = 1, shm = 2, redis = 4 };

// One option of a store URI. Everything that reads, checks or lists options uses this table.
struct UriOption {
  enum class Kind : std::uint8_t {
    duration,  // 200ms, 1s
    count,     // 16
    size,      // 4096, 64K, 16M, 1G
    text,      // As it is, with %XX for any byte
    flag,      // 0, 1
  };

  std::string_view name;
  std::uint8_t stores;  // StoreKinds, added up.
  Kind kind;
  std::string_view fallback;  // As it would be written. Empty: the store decides; read as 0 or "".
  std::int64_t min;           // Of durations (microseconds), counts and sizes (bytes).
  std::int64_t max;
  std::string_view meaning;
};

[[nodiscard]] std::span<const UriOption> uri_options() noexcept;

// A store URI, `scheme:rest?option=value&...`, checked against the table.
//
//   const Uri uri = Uri::parse("memory:?shards=4");
//   uri.count("shards")      // 4
//   uri.duration("timeout")  // 1s, the default
class Uri {
 public:
  // InvalidArgument names the scheme, the option or the value that is wrong, never user or
  // password.
  [[nodiscard]] static Uri parse(std::string_view text);

  [[nodiscard]] StoreKind store() const noexcept { return store_; }
  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
  [[nodiscard]] const std::string& rest() const noexcept { return rest_; }  // May hold a password.

  // %XX for any byte. InvalidArgument names what it is a part of.
  [[nodiscard]] static std::string decode(std::string_view name, std::string_view text);

  // The value given, else the default. The name is one of the table, of that kind and for this
  // store.
  [[nodiscard]] Duration duration(std::string_view name) const;
  [[nodiscard]] std::uint32_t count(std::string_view name) const;
  [[nodiscard]] std::uint64_t size(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;

 private:
  Uri() = default;

  void take_option(std::string_view option);
  [[nodiscard]] std::int64_t number(std::string_view name, UriOption::Kind kind) const;
  [[nodiscard]] std::string_view value(std::string_view name, UriOption::Kind kind) const;

  StoreKind store_ = StoreKind::memory;
  std::string scheme_;
  std::string rest_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace airlock

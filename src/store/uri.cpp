#include "store/uri.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "airlock/error.hpp"
#include "airlock/request.hpp"
#include "base/quote.hpp"

namespace airlock {
namespace {

using Kind = UriOption::Kind;

struct Scheme {
  std::string_view name;
  StoreKind store;
};

constexpr std::array<Scheme, 7> kSchemes = {{{"memory", StoreKind::memory},
                                             {"shm", StoreKind::shm},
                                             {"redis", StoreKind::redis},
                                             {"rediss", StoreKind::redis},
                                             {"redis+unix", StoreKind::redis},
                                             {"redis+sentinel", StoreKind::redis},
                                             {"redis+cluster", StoreKind::redis}}};

constexpr auto kMemory = static_cast<std::uint8_t>(StoreKind::memory);
constexpr auto kShm = static_cast<std::uint8_t>(StoreKind::shm);
constexpr auto kRedis = static_cast<std::uint8_t>(StoreKind::redis);
constexpr std::uint8_t kAll = kMemory | kShm | kRedis;

constexpr std::int64_t kLongest = kMaxTtl.count();
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

constexpr std::array kOptions = {
    UriOption{"timeout", kAll, Kind::duration, "1s", 1, kLongest, "Every call ends after this."},
    UriOption{"shards", kMemory, Kind::count, "16", 1, 256,
              "Gates of different shards never wait for each other."},
    UriOption{"size", kShm, Kind::size, "", 1, kLargest, "How far the segment may grow."},
    UriOption{"dir", kShm, Kind::text, "", 0, 0,
              "The folder of the segment instead of /dev/shm/airlock-<uid>."},
    UriOption{"mode", kShm, Kind::text, "0600", 0, 0, "The access rights of the segment, octal."},
    UriOption{"group", kShm, Kind::text, "", 0, 0,
              "The group that shares the segment; needs dir=."},
    UriOption{"prefix", kRedis, Kind::text, "", 0, 0, "What every key starts with."},
    UriOption{"db", kRedis, Kind::count, "0", 0, 65535, "The number of the database."},
    UriOption{"user", kRedis, Kind::text, "", 0, 0, "Who this is to the server."},
    UriOption{"password_file", kRedis, Kind::text, "", 0, 0,
              "The file whose first line is the password."},
    UriOption{"password_env", kRedis, Kind::text, "", 0, 0,
              "The environment variable that holds the password."},
    UriOption{"sentinel_user", kRedis, Kind::text, "", 0, 0, "Who this is to sentinels."},
    UriOption{"sentinel_password_file", kRedis, Kind::text, "", 0, 0,
              "The file whose first line is the sentinels' password."},
    UriOption{"sentinel_password_env", kRedis, Kind::text, "", 0, 0,
              "The environment variable that holds the sentinels' password."},
    UriOption{"pool", kRedis, Kind::count, "", 1, 65536,
              "The connections of this process to a server, which its callers share."},
    UriOption{"tls", kRedis, Kind::flag, "0", 0, 1,
              "Speak TLS with sentinels and with the nodes of a cluster."},
    UriOption{"ca", kRedis, Kind::text, "", 0, 0,
              "The file of authorities that a server's certificate must come from."},
    UriOption{"cert", kRedis, Kind::text, "", 0, 0, "The file of this client's certificate."},
    UriOption{"key", kRedis, Kind::text, "", 0, 0, "The file of its private key."},
    UriOption{"replicas_ack", kRedis, Kind::count, "0", 0, 1024,
              "A grant counts when so many replicas have it."},
    UriOption{"handover_delay", kRedis, Kind::duration, "0s", 0, kLongest,
              "After a failover a gate admits nobody for so long."},
    UriOption{"allow_eviction", kRedis, Kind::flag, "0", 0, 1,
              "Accept a server that may evict admission state."},
};

[[noreturn]] void fail(const std::string& text) { throw InvalidArgument("store URI: " + text); }

bool is_for(const UriOption& option, StoreKind store) {
  return (option.stores & static_cast<std::uint8_t>(store)) != 0;
}

const UriOption* find_option(std::string_view name, StoreKind store) {
  const auto* const found = std::find_if(
      kOptions.begin(), kOptions.end(),
      [&](const UriOption& option) { return option.name == name && is_for(option, store); });
  return found == kOptions.end() ? nullptr : found;
}

std::string names_for(StoreKind store) {
  std::string names;
  for (const UriOption& option : kOptions) {
    if (is_for(option, store)) names.append(names.empty() ? "" : ", ").append(option.name);
  }
  return names;
}

std::optional<std::int64_t> read_whole(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = error == std::errc{} && stop == end && text.front() != '-';
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> read_size(std::string_view text) {
  constexpr std::string_view kSuffixes = "KMG";
  const std::size_t at = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
  if (at == std::string_view::npos) return read_whole(text);
  const auto number = read_whole(text.substr(0, text.size() - 1));
  std::int64_t bytes = 0;
  const std::int64_t unit = std::int64_t{1024} << (10 * at);
  if (!number || __builtin_mul_overflow(*number, unit, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::int64_t> read_number(Kind kind, std::string_view text) try {
  if (kind == Kind::duration) return parse_duration(text).count();
  return kind == Kind::size ? read_size(text) : read_whole(text);
} catch (const InvalidArgument&) {
  return std::nullopt;  // The caller says which option it was.
}

std::string shown(Kind kind, std::int64_t number) {
  return kind == Kind::duration ? to_text(Duration(number)) : std::to_string(number);
}

// What an option may be, in words: "1us to 365d", "1 to 1024 bytes, as in 64M,".
std::string rule_of(const UriOption& option) {
  if (option.kind == Kind::flag) return "0 or 1";
  std::string rule = shown(option.kind, option.min) + " to " + shown(option.kind, option.max);
  return option.kind == Kind::size ? rule + " bytes, as in 64M," : rule;
}

void check_value(const UriOption& option, std::string_view value) {
  if (option.kind == Kind::text) return;
  const auto number = read_number(option.kind, value);
  if (number && *number >= option.min && *number <= option.max) return;
  fail("option " + std::string(option.name) + "=" + base::quoted(value) + ": " + rule_of(option) +
       " is needed");
}

std::optional<char> read_escape(std::string_view digits) {
  unsigned value = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const bool read = digits.size() == 2 && error == std::errc{} && stop == digits.data() + 2;
  return read ? std::optional(static_cast<char>(value)) : std::nullopt;
}

// An @ in it, or one behind it without "//", makes it likely that a user and a password are there.
std::string shown_scheme(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  const std::size_t at = uri.find('@');
  const bool safe = colon != std::string_view::npos && at > colon &&
                    (uri.substr(colon).starts_with("://") || at == std::string_view::npos);
  return safe ? "scheme " + base::quoted(uri.substr(0, colon)) + " is not known"
              : "it has no scheme";
}

const Scheme& scheme_of(std::string_view uri) {
  const std::string_view name = uri.substr(0, uri.find(':'));
  const auto* const found =
      std::find_if(kSchemes.begin(), kSchemes.end(),
                   [name](const Scheme& scheme) { return scheme.name == name; });
  if (found != kSchemes.end() && name.size() < uri.size()) return *found;
  fail(shown_scheme(uri) +
       "; use memory:, shm:, redis://, rediss://, redis+unix://, redis+sentinel:// or "
       "redis+cluster://");
}

}  // namespace

std::span<const UriOption> uri_options() noexcept { return kOptions; }

Uri Uri::parse(std::string_view text) {
  Uri uri;
  const Scheme& scheme = scheme_of(text);
  uri.scheme_ = scheme.name;
  uri.store_ = scheme.store;
  text.remove_prefix(scheme.name.size() + 1);

  const std::size_t question = text.find('?');
  uri.rest_ = text.substr(0, question);
  if (question == std::string_view::npos) return uri;
  text.remove_prefix(question + 1);
  // Else what follows the '?' may be the end of a password, and messages would show it.
  if (uri.store_ == StoreKind::redis && text.find('@') != std::string_view::npos) {
    fail("write a ? in a password as %3F and an @ in an option as %40");
  }
  while (!text.empty()) {
    const std::string_view option = text.substr(0, text.find('&'));
    uri.take_option(option);
    text.remove_prefix(std::min(option.size() + 1, text.size()));
  }
  return uri;
}

std::string Uri::decode(std::string_view name, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool escaped = text.front() == '%';
    const auto byte = escaped ? read_escape(text.substr(1, 2)) : text.front();
    if (!byte) fail(std::string(name) + ": two hex digits follow a %");
    out += *byte;
    text.remove_prefix(escaped ? 3 : 1);
  }
  return out;
}

void Uri::take_option(std::string_view option) {
  const std::size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  const UriOption* const known = find_option(name, store_);
  if (known == nullptr) {
    fail("option " + base::quoted(name) + " is not known to " + scheme_ + ":, which has " +
         names_for(store_));
  }
  if (equals == std::string_view::npos) fail("option " + std::string(name) + " has no =value");
  const std::string value = decode("option " + std::string(name), option.substr(equals + 1));
  check_value(*known, value);
  if (!given_.emplace(name, value).second) fail("option " + std::string(name) + " is given twice");
}

std::string_view Uri::value(std::string_view name, UriOption::Kind kind) const {
  const UriOption* const option = find_option(name, store_);
  if (option == nullptr || option->kind != kind) std::abort();  // A mistake in this library.
  const auto found = given_.find(name);
  return found == given_.end() ? option->fallback : std::string_view(found->second);
}

std::int64_t Uri::number(std::string_view name, UriOption::Kind kind) const {
  return read_number(kind, value(name, kind)).value_or(0);
}

Duration Uri::duration(std::string_view name) const {
  return Duration(number(name, Kind::duration));
}

std::uint32_t Uri::count(std::string_view name) const {
  return static_cast<std::uint32_t>(number(name, Kind::count));
}

std::uint64_t Uri::size(std::string_view name) const {
  return static_cast<std::uint64_t>(number(name, Kind::size));
}

std::string Uri::text(std::string_view name) const { return std::string(value(name, Kind::text)); }

bool Uri::flag(std::string_view name) const { return number(name, Kind::flag) != 0; }

}  // namespace airlock

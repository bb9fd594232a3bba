#include "store/redis/address.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "airlock/error.hpp"

namespace airlock::redis {
namespace {

constexpr std::string_view kForm = "redis://[user:password@]host[:port][/db]";
constexpr std::string_view kUnixForm = "redis+unix://[user:password@]/path";
constexpr std::string_view kSentinelForm =
    "redis+sentinel://[user:password@]host[:port],.../name of the primary[/db]";
constexpr std::string_view kClusterForm = "redis+cluster://[user:password@]host[:port],...";

[[noreturn]] void fail(const std::string& text) { throw InvalidArgument("store URI: " + text); }

// Without the text: where an @ is missing it may be a password.
template <typename Number>
Number read_number(const char* what, std::string_view text, std::string_view form) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) {
    fail(std::string(what) + ": a number from 0 to " +
         std::to_string(std::numeric_limits<Number>::max()) + " is needed; the form is " +
         std::string(form));
  }
  return number;
}

// `user:password`, each with %XX for any byte.
void read_user_info(std::string_view info, Address& address) {
  const std::size_t colon = info.find(':');
  if (colon == std::string_view::npos) fail("user:password goes before the @");
  address.user = Uri::decode("user", info.substr(0, colon));
  address.password = Uri::decode("password", info.substr(colon + 1));
}

// `host`, `host:port`, `[::1]:port`.
void read_host(std::string_view text, std::string_view form, Address& address) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) fail("a [ has no ]");
    address.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    address.host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (address.host.empty()) fail("no host; the form is " + std::string(form));
  if (port.empty()) return;
  if (!port.starts_with(':')) fail("what follows a ] is :port");
  address.port = read_number<std::uint16_t>("port", port.substr(1), form);
}

std::string value_of(const std::string& what, const std::string& variable) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, when the store is opened
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr) fail(what + ": there is no variable " + variable);
  if (*value == '\0') fail(what + ": the variable " + variable + " is empty");
  return value;
}

// Kept out of the URI, and so out of process lists and configuration files.
void read_secrets(const Uri& uri, const std::string& of, Address& address) {
  if (const std::string user = uri.text(of + "user"); !user.empty()) address.user = user;
  const std::string file = uri.text(of + "password_file");
  const std::string variable = uri.text(of + "password_env");
  if (!file.empty() && !variable.empty()) {
    fail(of + "password_file and " + of + "password_env are given; one is enough");
  }
  if (!file.empty()) {
    address.password = first_line(of + "password_file", file);
    address.password_file = file;
  }
  if (!variable.empty()) address.password = value_of(of + "password_env", variable);
  // Without AUTH the connection would silently have the rights of the user `default`.
  if (!address.user.empty() && address.password.empty()) {
    fail("a user is given without a password; give one as user:password@, " + of +
         "password_file= or " + of + "password_env= (any, if the user has nopass)");
  }
}

void read_tls(const Uri& uri, Address& address) {
  address.tls = uri.scheme() == "rediss" || uri.flag("tls");
  address.ca = uri.text("ca");
  address.cert = uri.text("cert");
  address.key = uri.text("key");
  const bool any = !address.ca.empty() || !address.cert.empty() || !address.key.empty();
  if (any && !address.tls) fail("ca, cert and key are for rediss://, or go with tls=1");
  if (address.cert.empty() != address.key.empty()) fail("cert and key go together");
}

// Takes what stands before the first `mark`, and the mark, off the text.
std::string_view take_until(char mark, std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

// What all forms have; leaves in `rest` what follows the @.
Address read_common(const Uri& uri, std::string_view form, std::string_view& rest) {
  rest = uri.rest();
  if (!rest.starts_with("//")) fail("the form is " + std::string(form));
  rest.remove_prefix(2);

  Address address;
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    read_user_info(rest.substr(0, at), address);
    rest.remove_prefix(at + 1);
  }
  address.db = uri.count("db");
  address.timeout = uri.duration("timeout");
  address.allow_eviction = uri.flag("allow_eviction");
  read_secrets(uri, "", address);
  read_tls(uri, address);
  return address;
}

}  // namespace

Address Address::parse(const Uri& uri) {
  const bool is_unix = uri.scheme() == "redis+unix";
  std::string_view rest;
  Address address = read_common(uri, is_unix ? kUnixForm : kForm, rest);
  if (is_unix) {
    if (!rest.starts_with('/')) fail("the form is " + std::string(kUnixForm));
    address.path = Uri::decode("path", rest);
  } else {
    read_host(take_until('/', rest), kForm, address);
    if (!rest.empty()) address.db = read_number<std::uint32_t>("db", rest, kForm);
  }
  return address;
}

Seeds Seeds::parse(const Uri& uri) {
  const bool is_cluster = uri.scheme() == "redis+cluster";
  const std::string_view form = is_cluster ? kClusterForm : kSentinelForm;
  std::string_view rest;
  Seeds seeds;
  seeds.server = read_common(uri, form, rest);
  Address seed = seeds.server;
  if (!is_cluster) {
    constexpr std::uint16_t kSentinelPort = 26'379;
    seeds.server.primary_only = true;
    seed.port = kSentinelPort;
    seed.db = 0;
    seed.user.clear();
    seed.password.clear();
    seed.password_file.clear();
    read_secrets(uri, "sentinel_", seed);
  }
  for (std::string_view hosts = take_until('/', rest); !hosts.empty();) {
    read_host(take_until(',', hosts), form, seeds.servers.emplace_back(seed));
  }
  if (seeds.servers.empty()) fail("no host; the form is " + std::string(form));
  if (!is_cluster) {
    seeds.master = Uri::decode("name of the primary", take_until('/', rest));
    if (seeds.master.empty()) fail("no name of the primary; the form is " + std::string(form));
    if (!rest.empty()) seeds.server.db = read_number<std::uint32_t>("db", rest, form);
  } else if (!rest.empty() || seeds.server.db != 0) {
    fail("a cluster has no databases");
  }
  return seeds;
}

std::string Address::text() const {
  if (!path.empty()) return path;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

}  // namespace airlock::redis

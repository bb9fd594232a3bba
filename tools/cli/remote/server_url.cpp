#include "server_url.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "airlock/error.hpp"

namespace airlock::cli {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr Duration kMaxTimeout = std::chrono::hours(1);

[[noreturn]] void fail(const std::string& what) { throw InvalidArgument("--server: " + what); }

bool is_host_byte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '-' || byte == '.' ||
         byte == '_';
}

bool is_address_byte(char byte) {
  return std::isxdigit(static_cast<unsigned char>(byte)) != 0 || byte == ':' || byte == '.';
}

// Takes it off the beginning of `rest`.
std::string take_host(std::string_view& rest) {
  std::string host;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) fail("an address in [ is not ended by ]");
    host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!std::ranges::all_of(host, is_address_byte)) fail("[ADDRESS] has to be one of IPv6");
  } else {
    host = rest.substr(0, rest.find_first_of(":/"));
    rest.remove_prefix(host.size());
    if (!std::ranges::all_of(host, is_host_byte)) fail("HOST has to be a name or an address");
  }
  if (host.empty()) fail("HOST is missing");
  return host;
}

std::uint16_t take_port(std::string_view& rest, std::uint16_t otherwise) {
  if (!rest.starts_with(':')) return otherwise;
  const std::string_view text = rest.substr(1, rest.find('/') - 1);
  rest.remove_prefix(text.size() + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    fail("PORT has to be a number from 1 to 65535");
  return port;
}

// A path, which is written into a request as it is.
std::string base_of(std::string_view rest) {
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const auto is_plain = [](char byte) { return byte > ' ' && byte <= '~'; };
  if (!rest.empty() && !rest.starts_with('/')) fail("a path begins with /");
  if (!std::ranges::all_of(rest, is_plain) || rest.find('#') != std::string_view::npos)
    fail("a path has printable ASCII, and no #");
  return std::string(rest);
}

Duration timeout_of(std::string_view option) {
  constexpr std::string_view kTimeout = "timeout=";
  if (!option.starts_with(kTimeout)) fail("its only option is ?timeout=DURATION");
  try {
    const Duration timeout = parse_duration(option.substr(kTimeout.size()));
    if (timeout > Duration(0) && timeout <= kMaxTimeout) return timeout;
  } catch (const InvalidArgument& error) {
    fail(std::string("timeout: ") + error.what());
  }
  fail("timeout: has to be above 0 and at most 1h");
}

}  // namespace

ServerUrl ServerUrl::parse(const std::string& text) {
  const std::size_t options = text.find('?');
  ServerUrl url{.text = text.substr(0, options)};
  if (options != std::string::npos) url.timeout = timeout_of(text.substr(options + 1));
  std::string_view rest = url.text;
  if (rest.starts_with(kUnix)) {
    url.socket = rest.substr(kUnix.size());
    if (url.socket.empty()) fail("PATH is missing in unix:PATH");
    return url;
  }
  url.tls = rest.starts_with(kHttps);
  if (!url.tls && !rest.starts_with(kHttp))
    fail("has to be unix:PATH, http://HOST:PORT or https://HOST");
  rest.remove_prefix(url.tls ? kHttps.size() : kHttp.size());
  if (rest.substr(0, rest.find('/')).find('@') != std::string_view::npos)
    fail("has no user and no password; --token-file names the file with a token");
  url.host = take_host(rest);
  url.port = take_port(rest, url.tls ? kHttpsPort : kHttpPort);
  url.base = base_of(rest);
  return url;
}

std::string ServerUrl::host_field() const {
  if (!socket.empty()) return "localhost";
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return name + ":" + std::to_string(port);
}

bool ServerUrl::is_local() const {
  return !socket.empty() || host == "localhost" || host == "::1" || host == "127.0.0.1";
}

}  // namespace airlock::cli

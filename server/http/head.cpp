#include "head.hpp"

#include <algorithm>
#include <array>

namespace airlock::server {
namespace {

constexpr std::string_view kEnd = "\r\n\r\n";

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr bool is_token(char c) {
  return is_digit(c) || is_letter(c) ||
         (c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

constexpr bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

constexpr bool is_host(char c) {
  return is_digit(c) || is_letter(c) ||
         (c != 0 && std::string_view("-._~!$&'()*+,;=:[]%").find(c) != std::string_view::npos);
}

template <typename Class>
bool is_all(std::string_view text, Class is_member) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_member);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_name(std::string_view name, std::string_view expected) {
  return std::equal(name.begin(), name.end(), expected.begin(), expected.end(),
                    [](char a, char b) { return lower(a) == b; });
}

// A name that decides something, with underscores. A proxy looks for hyphens alone, and some servers take both.
bool is_disguised(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"content-length", "transfer-encoding",
                                                      "x-forwarded-for", "x-real-ip"};
  const auto is_same = [](char a, char b) { return (a == '_' ? '-' : lower(a)) == b; };
  return name.find('_') != std::string_view::npos &&
         std::any_of(kNames.begin(), kNames.end(), [&](std::string_view each) {
           return std::equal(name.begin(), name.end(), each.begin(), each.end(), is_same);
         });
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

constexpr HeadCheck bad(const char* rule, int status = 400) {
  return {.status = status, .rule = rule};
}

// METHOD SP TARGET SP HTTP/1.x
HeadCheck check_request_line(std::string_view line, bool& is_1_0) {
  const std::size_t method = line.find(' ');
  const std::size_t target = line.rfind(' ');
  if (method == std::string_view::npos || method == target) {
    return bad("the request line is METHOD TARGET HTTP/1.1");
  }
  if (!is_all(line.substr(0, method), is_token)) return bad("the method is a token");
  const std::string_view path = line.substr(method + 1, target - method - 1);
  if (!path.starts_with('/')) return bad("the target is a path that begins with /");
  if (!is_all(path, is_visible) || path.find('#') != std::string_view::npos) {
    return bad("the target has visible ASCII characters only, and no #");
  }
  const std::string_view version = line.substr(target + 1);
  is_1_0 = version == "HTTP/1.0";
  if (is_1_0 || version == "HTTP/1.1") return {};
  if (version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
      version[6] == '.' && is_digit(version[7])) {
    return bad("the version is HTTP/1.1 or HTTP/1.0", 505);
  }
  return bad("the request line ends with HTTP/1.1");
}

// The fields that decide where a request ends, and which host is meant.
class FramingFields {
 public:
  HeadCheck take(std::string_view name, std::string_view value) {
    if (is_name(name, "host")) return take_host(value);
    if (is_name(name, "content-length")) return take_length(value);
    if (is_name(name, "transfer-encoding")) return take_encoding(value);
    if (is_name(name, "trailer")) return bad("trailers are not supported");
    if (is_name(name, "expect") && !is_name(value, "100-continue")) {
      return bad("Expect may only be 100-continue", 417);
    }
    return {};
  }

  HeadCheck judge(bool is_1_0) const {
    if (hosts_ == 0 && !is_1_0) return bad("a Host field is needed");
    if (encodings_ != 0 && is_1_0) return bad("HTTP/1.0 has no Transfer-Encoding");
    if (encodings_ != 0 && lengths_ != 0) {
      return bad("Transfer-Encoding and Content-Length exclude each other");
    }
    return {.is_chunked = encodings_ != 0, .length = length_};
  }

 private:
  HeadCheck take_host(std::string_view value) {
    if (++hosts_ > 1) return bad("there may be one Host field only");
    return is_all(value, is_host) ? HeadCheck{} : bad("Host is not a host name");
  }

  HeadCheck take_length(std::string_view value) {
    if (++lengths_ > 1) return bad("there may be one Content-Length field only");
    if (!is_all(value, is_digit) || value.size() > 18) return bad("Content-Length is a number");
    for (const char c : value) length_ = length_ * 10 + static_cast<std::uint64_t>(c - '0');
    return {};
  }

  HeadCheck take_encoding(std::string_view value) {
    if (++encodings_ > 1) return bad("there may be one Transfer-Encoding field only");
    return value == "chunked" ? HeadCheck{} : bad("Transfer-Encoding may only be chunked", 501);
  }

  int hosts_ = 0;
  int lengths_ = 0;
  int encodings_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace

HeadScan scan_head(std::string_view bytes, std::size_t scanned) noexcept {
  constexpr auto kMalformed = HeadScan::State::malformed;
  // The last three bytes may be the beginning of the end.
  for (std::size_t i = scanned; i < bytes.size(); ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c == '\n') {
      if (i == 0 || bytes[i - 1] != '\r') return {kMalformed};
      if (i == 1) return {kMalformed};  // An empty line instead of a request.
      if (bytes.substr(0, i + 1).ends_with(kEnd)) return {HeadScan::State::complete, i + 1};
    } else if ((i != 0 && bytes[i - 1] == '\r') || (c < 0x20 && c != '\r' && c != '\t') ||
               c == 0x7f) {
      return {kMalformed};
    }
  }
  return {HeadScan::State::incomplete, bytes.size()};
}

HeadCheck check_head(std::string_view head) noexcept {
  head.remove_suffix(kEnd.size());
  std::size_t end = head.find("\r\n");
  bool is_1_0 = false;
  if (const HeadCheck line = check_request_line(head.substr(0, end), is_1_0); line.status != 0)
    return line;
  FramingFields framing;
  while (end != std::string_view::npos) {
    head.remove_prefix(end + 2);
    end = head.find("\r\n");
    const std::string_view field = head.substr(0, end);
    if (field.starts_with(' ') || field.starts_with('\t')) return bad("a field is one line");
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos || !is_all(field.substr(0, colon), is_token)) {
      return bad("a field is NAME: VALUE");
    }
    if (is_disguised(field.substr(0, colon)))
      return bad("the name of this field has hyphens; some take an underscore for one");
    const HeadCheck taken = framing.take(field.substr(0, colon), trimmed(field.substr(colon + 1)));
    if (taken.status != 0) return taken;
  }
  return framing.judge(is_1_0);
}

bool is_loopback_host(std::string_view host) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"localhost", "127.0.0.1", "[::1]"};
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && is_all(host.substr(colon + 1), is_digit))
    host = host.substr(0, colon);
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return is_name(host, name); });
}

}  // namespace airlock::server

#include "store/shm/options.hpp"

#include <algorithm>
#include <charconv>

#include "airlock/error.hpp"
#include "base/quote.hpp"
#include "store/shm/layout.hpp"
#include "store/uri.hpp"

namespace airlock::shm {
namespace {

constexpr std::size_t kMaxName = 200;

// As gate names are, and no hidden file.
bool is_name(std::string_view text) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '-';
  };
  return text.size() <= kMaxName && text.front() != '.' && std::ranges::all_of(text, legal);
}

mode_t parse_mode(const std::string& text) {
  constexpr mode_t kRights = 0666;
  constexpr mode_t kOwner = 0600;
  mode_t mode = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, mode, 8);
  const bool fits = (mode & ~kRights) == 0 && (mode & kOwner) == kOwner;
  if (error == std::errc() && stop == end && fits) return mode;
  throw InvalidArgument("store URI: option mode=" + base::quoted(text) +
                        ": octal is needed: 0600, or that with read and write for group or others");
}

// Without a folder of the group every member would have a segment of its own, and every lock as many
// holders. A place that all of them know by themselves could be taken by anybody first.
void share(Options& options) {
  constexpr mode_t kGroup = 0060;
  if (options.dir.empty()) {
    throw InvalidArgument(
        "store URI: option group=" + base::quoted(options.group) +
        ": give dir= too, a folder for all members of the group; without it every "
        "user has a segment of its own");
  }
  options.mode |= kGroup;
}

}  // namespace

Options Options::from(const Uri& uri) {
  Options options;
  if (!uri.rest().empty()) options.name = uri.rest();
  if (!is_name(options.name)) {
    throw InvalidArgument("store URI: shm:" + base::quoted(options.name) +
                          ": 1 to 200 bytes of [A-Za-z0-9_.:-] and no dot first");
  }
  options.dir = uri.text("dir");
  if (!options.dir.empty() && options.dir.front() != '/') {
    throw InvalidArgument("store URI: option dir=" + base::quoted(options.dir) +
                          ": an absolute path is needed");
  }
  if (uri.size("size") != 0) options.size = uri.size("size");
  if (Layout::within(options.size).scale() == 0) {
    throw InvalidArgument("store URI: option size: " + std::to_string(Layout(1).size()) +
                          " bytes at least");
  }
  options.mode = parse_mode(uri.text("mode"));
  options.group = uri.text("group");
  if (!options.group.empty()) share(options);
  options.timeout = uri.duration("timeout");
  return options;
}

}  // namespace airlock::shm

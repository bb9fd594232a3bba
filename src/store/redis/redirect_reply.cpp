#include "store/redis/redirect_reply.hpp"

#include <charconv>

namespace airlock::redis {
namespace {

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace

// `MOVED 3999 127.0.0.1:6381`, `ASK 3999 ::1:6381`
std::optional<RedirectReply> RedirectReply::parse(const Reply& reply) {
  if (!reply.is_error()) return std::nullopt;
  std::string_view text = reply.text();
  RedirectReply to{.for_good = text.starts_with("MOVED ")};
  if (!to.for_good && !text.starts_with("ASK ")) return std::nullopt;
  text.remove_prefix(text.find(' ') + 1);
  const std::size_t space = text.find(' ');
  const std::size_t colon = text.rfind(':');
  const bool whole = space != std::string_view::npos && colon != std::string_view::npos &&
                     space < colon && read_number(text.substr(0, space), to.slot) &&
                     to.slot < kHashSlots && read_number(text.substr(colon + 1), to.port);
  if (!whole) return std::nullopt;
  to.host = text.substr(space + 1, colon - space - 1);
  return to;
}

}  // namespace airlock::redis

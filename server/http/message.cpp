#include "message.hpp"

#include <algorithm>
#include <array>

namespace airlock::server {

std::string_view reason_phrase(int status) noexcept {
  constexpr std::array<std::pair<int, std::string_view>, 22> kPhrases = {{
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {303, "See Other"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  }};
  const auto* const found = std::find_if(kPhrases.begin(), kPhrases.end(),
                                         [&](const auto& each) { return each.first == status; });
  return found == kPhrases.end() ? "Unknown" : found->second;
}

std::vector<std::string_view> Request::values(std::string_view name) const {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto is_same = [lower](char a, char b) { return lower(a) == lower(b); };
  std::vector<std::string_view> found;
  std::string_view rest = fields;
  while (!rest.empty()) {
    const std::string_view field = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(field.size() + 1);
    const std::string_view its_name = field.substr(0, field.find(':'));
    if (std::equal(name.begin(), name.end(), its_name.begin(), its_name.end(), is_same))
      found.push_back(field.substr(its_name.size() + 1));
  }
  return found;
}

void append_response(std::string& out, const Response& response, const Framing& framing) {
  const auto field = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(reason_phrase(response.status)).append("\r\n");
  field("Date", framing.date);
  if (response.status != 204) {
    field("Content-Type", response.content_type);
    field("Content-Length", std::to_string(response.body.size()));
    field("Cache-Control", "no-store");
  }
  for (const auto& [name, value] : response.fields) field(name, value);
  if (!framing.keeps_alive) field("Connection", "close");
  out.append("\r\n");
  if (framing.has_body && response.status != 204) out.append(response.body);
}

}  // namespace airlock::server

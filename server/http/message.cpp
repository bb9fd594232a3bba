#include "message.hpp"

#include <algorithm>
#include <array>

namespace airlock::server {

std::string_view reason_phrase(int status) noexcept {
  constexpr std::array<std::pair<int, std::string_view>, 21> kPhrases = {{
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
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

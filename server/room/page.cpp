#include "room/page.hpp"

#include <algorithm>

#include "airlock/token.hpp"
#include "api/answers.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

// Soon where the visitor has no place yet: the first reload without JavaScript takes it.
Duration reload_after(const RoomCall& call, const Standing& standing) {
  return standing.state == Standing::State::joining ? Duration(1s) : call.room->refresh;
}

bool reloads(const Standing& standing) { return standing.state != Standing::State::ended; }

// For browsers without JavaScript.
std::string refresh_html(const RoomCall& call, const Standing& standing) {
  if (!reloads(standing)) return {};
  return "<noscript><meta http-equiv=\"refresh\" content=\"" +
         whole_seconds(reload_after(call, standing)) + "; url=" + html_escaped(call.url("plain")) +
         "\"></noscript>";
}

PageTemplate::Values page_values(const RoomCall& call, const Standing& standing,
                                 const std::string& nonce) {
  const Words& words = *call.words;
  const Shown text = shown(call, standing);
  const auto string = [](std::string_view view) { return std::string(view); };
  return {{"lang", string(words.language)},
          {"nonce", nonce},
          {"refresh_html", refresh_html(call, standing)},
          {"site", call.room->site},
          {"title", string(words.title)},
          {"state", to_text(standing.state)},
          {"headline", string(text.headline)},
          {"detail", string(text.detail)},
          {"position", text.position},
          {"ahead", text.ahead},
          {"wait", text.wait},
          {"progress", std::to_string(text.percent)},
          {"label_place", string(words.label_place)},
          {"label_ahead", string(words.label_ahead)},
          {"label_wait", string(text.label_wait)},
          {"label_progress", string(words.label_progress)},
          {"label_next", string(words.label_next)},
          {"stream_path", call.base() + "/stream"},
          {"status_path", call.base() + "/status"},
          {"next_path", call.url()},
          {"note", with(words.reloads, "seconds", whole_seconds(call.room->refresh))}};
}

std::string policy(const std::string& nonce) {
  return "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce +
         "'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'";
}

Response html_response(const RoomCall& call, const Standing& standing) {
  const std::string nonce = VisitorId::random().text();
  Response response{.status = call.room->status,
                    .body = call.room->page.fill(page_values(call, standing, nonce)),
                    .content_type = "text/html; charset=utf-8"};
  response.fields.emplace_back("Content-Security-Policy", policy(nonce));
  return response;
}

}  // namespace

void add_room_fields(Response& response) {
  response.fields.emplace_back("X-Robots-Tag", "noindex");
  response.fields.emplace_back("X-Content-Type-Options", "nosniff");
  response.fields.emplace_back("Referrer-Policy", "same-origin");
  response.fields.emplace_back("Vary", "Accept, Accept-Language, Cookie");
}

Response waiting_response(const RoomCall& call, const Standing& standing) {
  Response response = call.wants_json
                          ? json_response(call.room->status, standing_json(call, standing))
                          : html_response(call, standing);
  if (reloads(standing))
    response.fields.emplace_back("Retry-After", whole_seconds(reload_after(call, standing)));
  add_room_fields(response);
  return response;
}

Response admitted_response(const RoomCall& call, const Standing& standing) {
  Response response = call.wants_json ? json_response(200, standing_json(call, standing))
                                      : Response{.status = 303, .content_type = "text/plain"};
  response.fields.emplace_back("Location", call.to);
  const Granted& granted = *standing.granted;
  response.fields.emplace_back("Set-Cookie",
                               admitted_cookie(call.room->keys, granted.token, granted.expires_in));
  add_room_fields(response);
  return response;
}

}  // namespace airlock::server

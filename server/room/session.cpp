#include "room/session.hpp"

#include <utility>

#include "airlock/error.hpp"
#include "api/answers.hpp"
#include "http/loop.hpp"
#include "room/page.hpp"
#include "room/room_call.hpp"

namespace airlock::server {
namespace {

// What a check needs while the store is asked.
struct Check {
  ConfigPtr config;  // Keeps the room.
  const Room* room;
  GateName gate;
  RoomTicket ticket;
  RoomCheck style;
  std::string to;
};

Token token_of(const Pass& pass) {
  return {
      .store = pass.store(), .gate = pass.gate(), .visitor = pass.visitor(), .fence = pass.fence()};
}

Response has_to_wait(const Check& check) {
  const std::string room = room_url(check.gate, check.to);
  const bool redirects = check.style == RoomCheck::forward;
  Response response = redirects ? Response{.status = 303, .content_type = "text/plain"}
                                : problem(401, "the visitor has to wait in the room");
  if (redirects) response.fields.emplace_back("Location", room);
  response.fields.emplace_back("Airlock-Status", "queued");
  response.fields.emplace_back("Airlock-Room", room);
  return response;
}

Response is_in(std::string cookie = {}) {
  Response response{.status = 204};
  response.fields.emplace_back("Airlock-Status", "admitted");
  if (!cookie.empty()) response.fields.emplace_back("Set-Cookie", std::move(cookie));
  return response;
}

Response is_in_until(const Check& check, Instant now, Instant expires) {
  return is_in(admitted_cookie(check.room->keys, token_of(*check.ticket.pass), expires - now));
}

// A fixed session is not extended, but it may have ended before its time.
Renewal asked(const Store& store, const Room& room, const Token& token) {
  if (room.is_sliding) return store.renew(token, room.ttl);
  return store.holds(token) ? Renewal::renewed : Renewal::gone;
}

// The pass is good as long as nobody knows better.
Response extended(Sessions& sessions, const Store& store, const Check& check) {
  const Pass& pass = *check.ticket.pass;
  const Instant now = wall_clock();
  try {
    switch (asked(store, *check.room, token_of(pass))) {
      case Renewal::renewed: {
        const Instant expires = check.room->is_sliding ? now + check.room->ttl : pass.expires();
        sessions.renewed(pass, now, expires);
        return check.room->is_sliding ? is_in_until(check, now, expires) : is_in();
      }
      case Renewal::gone:
      case Renewal::revoked:
        sessions.end(pass.visitor(), pass.fence(), pass.expires());
        return has_to_wait(check);
      case Renewal::no_room:
      case Renewal::unknown:
        break;
    }
  } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): as unknown
  }
  sessions.failed(pass);
  return is_in();
}

bool wants_end(const Request& request) {
  const auto values = request.values("Airlock-Session");
  return values.size() == 1 && values.front() == "end";
}

Response ended(Sessions& sessions, const Store& store, const Check& check) {
  end_session(sessions, store, check.gate, *check.room, check.ticket);
  return is_in(no_cookie(check.gate));
}

}  // namespace

void end_session(Sessions& sessions, const Store& store, const GateName& gate, const Room& room,
                 const RoomTicket& ticket) {
  if (ticket.pass) {
    sessions.end(ticket.pass->visitor(), ticket.pass->fence(), wall_clock() + room.ttl);
    store.release(token_of(*ticket.pass));
  } else if (ticket.visitor && !store.leave(gate, *ticket.visitor)) {
    // It may be in, with a pass that has expired.
    const Answer answer =
        store.admit({.gate = gate,
                     .visitor = *ticket.visitor,
                     .permits = airlock::Permits{.limit = room.limit, .ttl = room.ttl},
                     .line = {.returning = true, .order = room.order}});
    if (const auto* const granted = std::get_if<Granted>(&answer)) store.release(granted->token);
  }
}

void check_room(Api& api, const ExchangePtr& exchange, const GateName& gate, const Room& room,
                RoomCheck style, std::string_view to) {
  const Request& request = exchange->request();
  Check check{.config = exchange->loop().config_pointer(),
              .room = &room,
              .gate = gate,
              .ticket = read_ticket(request, room.keys, gate),
              .style = style,
              .to = is_local_path(to) ? std::string(to) : room.target};
  if (!check.ticket.pass) return exchange->answer(has_to_wait(check));
  Sessions& sessions = api.rooms.sessions();
  if (wants_end(request)) {
    return answer_by(api, exchange, [&sessions, check = std::move(check)](const Store& store) {
      return ended(sessions, store, check);
    });
  }
  const Instant now = wall_clock();
  const auto advice = sessions.advise(*check.ticket.pass, room.ttl, now);
  switch (advice.next) {
    case Sessions::Next::nothing:
      return exchange->answer(is_in());
    case Sessions::Next::reissue:
      return exchange->answer(room.is_sliding ? is_in_until(check, now, advice.expires) : is_in());
    case Sessions::Next::ended:
      return exchange->answer(has_to_wait(check));
    case Sessions::Next::renew:
      break;
  }
  answer_by(api, exchange, [&sessions, check = std::move(check)](const Store& store) {
    return extended(sessions, store, check);
  });
}

}  // namespace airlock::server

#include <utility>

#include "airlock/error.hpp"
#include "api/answers.hpp"
#include "api/fields.hpp"
#include "http/loop.hpp"
#include "room/page.hpp"
#include "room/room_call.hpp"
#include "room/room_stream.hpp"
#include "room/session.hpp"
#include "room/standing.hpp"

// The paths of a waiting room.

namespace airlock::server {
namespace {

// A place is taken only by a visitor that has shown its cookie: what ignores cookies costs nothing.
Response first_visit(const RoomCall& call) {
  const std::string cookie = waiting_cookie(call.room->keys, call.gate, VisitorId::random());
  Response response;
  if (call.wants_json || call.has_returned) {
    const auto state = call.has_returned ? Standing::State::cookies : Standing::State::joining;
    response = waiting_response(call, {.state = state});
  } else {
    response = {.status = 303, .content_type = "text/plain"};
    response.fields.emplace_back("Location", call.url("back"));
    add_room_fields(response);
  }
  response.fields.emplace_back("Set-Cookie", cookie);
  return response;
}

Standing asked(const Store& store, const RoomCall& call, bool joins) {
  try {
    return ask_line(store, call, {.joins = joins, .claim_window = 2 * call.room->refresh});
  } catch (const Error&) {  // Also where the line has another order than the configuration.
    return {.state = Standing::State::outage};
  }
}

}  // namespace

void room_page(Api& api, const ExchangePtr& exchange, const Places& places) {
  RoomCall call = read_room_call(api, *exchange, places);
  if (!call.ticket.visitor) return exchange->answer(first_visit(call));
  answer_by(api, exchange, [call = std::move(call)](const Store& store) {
    // A page with JavaScript takes its place by its stream, which can be told at once.
    const Standing standing = asked(store, call, call.is_plain || call.wants_json);
    return standing.granted ? admitted_response(call, standing) : waiting_response(call, standing);
  });
}

// For programs: always 200, whatever a page says.
void room_status(Api& api, const ExchangePtr& exchange, const Places& places) {
  RoomCall call = read_room_call(api, *exchange, places);
  call.wants_json = true;
  const auto answered = [](Response response) {
    response.status = 200;
    return response;
  };
  if (!call.ticket.visitor) return exchange->answer(answered(first_visit(call)));
  answer_by(api, exchange, [call = std::move(call), answered](const Store& store) {
    const Standing standing = asked(store, call, true);
    return answered(standing.granted ? admitted_response(call, standing)
                                     : waiting_response(call, standing));
  });
}

void room_stream(Api& api, const ExchangePtr& exchange, const Places& places) {
  RoomCall call = read_room_call(api, *exchange, places);
  if (!call.ticket.visitor)
    throw Rejection{403, "a stream needs the cookie that the page sets", "Cookie"};
  RoomStream::start(api, exchange, std::move(call));
}

void end_room_session(Api& api, const ExchangePtr& exchange, const Places& places) {
  RoomCall call = read_room_call(api, *exchange, places);
  answer_by(api, exchange, [&api, call = std::move(call)](const Store& store) {
    end_session(api.rooms.sessions(), store, call.gate, *call.room, call.ticket);
    Response response{.status = 204};
    response.fields.emplace_back("Set-Cookie", no_cookie(call.gate));
    return response;
  });
}

}  // namespace airlock::server

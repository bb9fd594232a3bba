#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/name.hpp"
#include "airlock/store.hpp"
#include "api/steps.hpp"
#include "dashboard/sampler.hpp"
#include "http/exchange.hpp"
#include "rls/counters.hpp"
#include "room/room_state.hpp"

// The calls of the server: which path and method belong to which handler.

namespace airlock::server {

struct Shared;

struct Api {
  Store store;
  bool is_local;  // Its steps never block.
  Shared& shared;
  RoomState rooms{};
  Steps steps{is_local};
  rls::Counters rate_limit_counters = {};
  std::unique_ptr<Sampler> sampler = {};  // Never null while calls are answered.
};

// What stands in the places of a path in braces, decoded.
struct Places {
  std::string gate = {};
  std::string visitor = {};
};

// Answers a request, or begins to.
void handle(Api& api, const ExchangePtr& exchange);

// `group~name` stands for group/name. Rejection for what is no name of a gate.
[[nodiscard]] GateName gate_in(const Places& places);

// A name as it is. Rejection for what is no name of a gate.
[[nodiscard]] GateName gate_named(const std::string& name);

// Whose visitor of that name it is belongs to its id: nobody gets another's token by guessing a name.
[[nodiscard]] VisitorId visitor_of(const Peer& peer, std::string_view name);

// Asks the store where that does not block the loop, and answers with what `ask` returns or with what it throws.
void answer_by(Api& api, const ExchangePtr& exchange, std::function<Response(const Store&)> ask);

// Gives back what nobody has learned of.
void release_soon(Api& api, Loop& loop, const Token& token);

// One for each call, or for a few that belong together; each in a file of that name.
void admit(Api& api, const ExchangePtr& exchange, const Places& places);
void admit_all(Api& api, const ExchangePtr& exchange, const Places& places);  // admit_group.cpp
void take(Api& api, const ExchangePtr& exchange, const Places& places);
void renew(Api& api, const ExchangePtr& exchange, const Places& places);    // leases.cpp
void release(Api& api, const ExchangePtr& exchange, const Places& places);  // leases.cpp
void leave(Api& api, const ExchangePtr& exchange, const Places& places);    // leases.cpp
void list_gates(Api& api, const ExchangePtr& exchange, const Places& places);
void show_gate(Api& api, const ExchangePtr& exchange, const Places& places);
void set_limit(Api& api, const ExchangePtr& exchange, const Places& places);
void clear_limit(Api& api, const ExchangePtr& exchange, const Places& places);
void pause(Api& api, const ExchangePtr& exchange, const Places& places);
void resume(Api& api, const ExchangePtr& exchange, const Places& places);
void revoke(Api& api, const ExchangePtr& exchange, const Places& places);
void purge(Api& api, const ExchangePtr& exchange, const Places& places);
void check(Api& api, const ExchangePtr& exchange, const Places& places);  // check/check.cpp
void should_rate_limit(Api& api, const ExchangePtr& exchange,
                       const Places& places);  // rls/json_call.cpp
void doctor(Api& api, const ExchangePtr& exchange, const Places& places);
void me(Api& api, const ExchangePtr& exchange, const Places& places);  // dashboard/dashboard.cpp
void events(Api& api, const ExchangePtr& exchange,
            const Places& places);  // dashboard/dashboard.cpp
void history(Api& api, const ExchangePtr& exchange,
             const Places& places);                                       // dashboard/dashboard.cpp
void page(Api& api, const ExchangePtr& exchange, const Places& places);   // dashboard/dashboard.cpp
void asset(Api& api, const ExchangePtr& exchange, const Places& places);  // dashboard/dashboard.cpp
void room_page(Api& api, const ExchangePtr& exchange, const Places& places);    // room/room.cpp
void room_stream(Api& api, const ExchangePtr& exchange, const Places& places);  // room/room.cpp
void room_status(Api& api, const ExchangePtr& exchange, const Places& places);  // room/room.cpp
void end_room_session(Api& api, const ExchangePtr& exchange,
                      const Places& places);  // room/room.cpp
void metrics(Api& api, const ExchangePtr& exchange, const Places& places);
void live(Api& api, const ExchangePtr& exchange, const Places& places);
void ready(Api& api, const ExchangePtr& exchange, const Places& places);

// The value of a parameter of the query, decoded; empty if it is not there. Rejection for one that is not `known`.
[[nodiscard]] std::string query_value(const Request& request, std::string_view known);

// The same for several. Rejection also for one that stands there twice.
[[nodiscard]] std::vector<std::string> query_values(const Request& request,
                                                    const std::vector<std::string_view>& known);

}  // namespace airlock::server

#include <utility>
#include <variant>

#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "api/terms.hpp"
#include "api/visit.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"
#include "operations/address_caps.hpp"

namespace airlock::server {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kClaimWindowNamed = std::chrono::seconds(10);

}  // namespace

std::optional<airlock::Permits> read_permits(Fields& fields, const GateRule* rule) {
  auto limit = fields.number("limit", 1, kMaxLimit);
  if (!limit && rule != nullptr) limit = rule->limit;
  const auto weight = fields.number("weight", 1, kMaxLimit);
  const auto ttl = fields.duration("ttl", std::chrono::milliseconds(20), kMaxTtl);
  if (!limit) {
    if (weight) throw Rejection{400, "needs a limit", "weight"};
    if (ttl) throw Rejection{400, "needs a limit", "ttl"};
    return std::nullopt;
  }
  if (weight.value_or(1) > *limit) throw Rejection{400, "is above the limit", "weight"};
  return airlock::Permits{.limit = static_cast<std::uint32_t>(*limit),
                          .weight = static_cast<std::uint32_t>(weight.value_or(1)),
                          .ttl = ttl.value_or(rule != nullptr ? rule->ttl : GateRule().ttl)};
}

namespace {

Line read_line(Fields& fields, const GateRule* rule) {
  Line line{.order = fields.choice("order", order_words())
                         .value_or(rule != nullptr ? rule->order : Order::fifo),
            .max_waiting = rule != nullptr ? rule->max_waiting : 0,
            .patience = kPatience};
  const auto priority = fields.number("priority", 0, kMaxPriority);
  if (priority && line.order != Order::priority)
    throw Rejection{400, "needs \"order\":\"priority\"", "priority"};
  line.priority = static_cast<std::uint16_t>(priority.value_or(0));
  return line;
}

// The default of the gate, unless the caller neither waits nor joins.
Duration read_wait(Fields& fields, const GateRule* rule, bool joins) {
  const auto wait = fields.duration("wait", Duration(0), kForever);
  if (wait) return *wait;
  return rule != nullptr && joins ? rule->wait : Duration(0);
}

AdmitCall read_call(Exchange& exchange, const Places& places) {
  const Request& request = exchange.request();
  AdmitCall call{.gate = gate_in(places)};
  const GateRule* const rule = exchange.loop().config().gates.find(call.gate.view());
  Fields fields(request);
  check_terms(exchange, fields, call.gate, rule);
  call.permits = read_permits(fields, rule);
  if (call.permits) check_ttl(exchange, call.permits->ttl, call.gate, rule);
  call.rates = fields.rates("rates");
  if (call.rates.empty() && rule != nullptr) call.rates = rule->rates;
  if (!call.permits && call.rates.empty())
    throw Rejection{400, "a limit, or rates, are needed: here, or in a [[gate]] of airlock.toml",
                    "limit"};
  const auto cost = fields.number("cost", 1, kMaxLimit);
  if (cost && call.rates.empty()) throw Rejection{400, "needs rates", "cost"};
  call.cost = static_cast<std::uint32_t>(cost.value_or(1));
  call.line = read_line(fields, rule);
  const auto join = fields.flag("join");
  call.wait = read_wait(fields, rule, join.value_or(true));
  call.name = fields.text("visitor", 200).value_or("");
  call.label = fields.text("label", kMaxLabelSize).value_or(exchange.peer().label);
  fields.finish();
  call.visitor = call.name.empty() ? VisitorId::random() : visitor_of(exchange.peer(), call.name);
  call.line.join = join.value_or(!call.name.empty() || call.wait > Duration(0));
  if (!call.name.empty()) call.line.claim_window = kClaimWindowNamed;
  if (!call.line.join && call.wait > Duration(0))
    throw Rejection{400, "who waits joins the line", "join"};
  if (call.line.join && call.wait == Duration(0) && call.name.empty()) {
    throw Rejection{400, "a place in the line is kept for a visitor, or while the call waits",
                    "join"};
  }
  call.is_stream = request.accept.find("text/event-stream") != std::string::npos;
  if (call.is_stream && !call.permits)
    throw Rejection{400, "a stream holds a lease, which needs a limit", "limit"};
  return call;
}

// One question, in one step of the store.
Response admit_once(Api& api, Loop& loop, const AdmitCall& call) {
  const Answer answer = api.store.admit(call.request());
  if (const auto* const refused = std::get_if<Refused>(&answer))
    return refused_response(*refused, call.rates);
  if (const auto* const queued = std::get_if<Queued>(&answer)) {
    return json_response(202, queued_json(*queued, call.name));
  }
  const auto& granted = std::get<Granted>(answer);
  Response response = json_response(200, granted_json(granted, Duration(0)));
  add_rate_fields(response, call.rates, granted.rate);
  if (call.name.empty() && granted.token.fence != 0) {
    response.on_unwritten = [&api, &loop, token = granted.token] {
      release_soon(api, loop, token);
    };
  }
  return response;
}

}  // namespace

void admit(Api& api, const ExchangePtr& exchange, const Places& places) {
  AdmitCall call = read_call(*exchange, places);
  const bool is_held = call.is_stream || (call.wait > Duration(0) && call.name.empty());
  if (is_held) call.hold = Hold::bound;  // To this server, until its client has it.
  if (is_held || call.wait > Duration(0)) {
    take_waiting_place(*exchange);
    return Visit::start(api, exchange, std::move(call));
  }
  answer_by(api, exchange,
            [&api, &loop = exchange->loop(), call = std::move(call)](const Store& /*store*/) {
              return admit_once(api, loop, call);
            });
}

}  // namespace airlock::server

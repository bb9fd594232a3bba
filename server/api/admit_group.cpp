#include <utility>
#include <variant>

#include "airlock/error.hpp"
#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "api/terms.hpp"
#include "api/visit.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"
#include "rights/require.hpp"

// Several gates of one group, decided in one step: all or none.

namespace airlock::server {
namespace {

constexpr std::size_t kMaxGates = 16;

struct GroupCall {
  std::vector<AdmitCall> parts;
  std::string name = {};  // Of the visitor; empty: none.

  [[nodiscard]] std::vector<airlock::Request> requests() const;
};

std::vector<airlock::Request> GroupCall::requests() const {
  std::vector<airlock::Request> all;
  for (const AdmitCall& part : parts) all.push_back(part.request());
  return all;
}

AdmitCall read_part(Exchange& exchange, Fields& fields) {
  const auto name = fields.text("gate", 200);
  if (!name) throw Rejection{400, "is needed", "gate"};
  AdmitCall part{.gate = gate_named(*name)};
  require(exchange, Role::admit, part.gate);
  const GateRule* const rule = exchange.loop().config().gates.find(part.gate.view());
  check_terms(exchange, fields, part.gate, rule);
  part.permits = read_permits(fields, rule);
  if (part.permits) check_ttl(exchange, part.permits->ttl, part.gate, rule);
  part.rates = fields.rates("rates");
  if (part.rates.empty() && rule != nullptr) part.rates = rule->rates;
  if (!part.permits && part.rates.empty())
    throw Rejection{400, "a limit, or rates, are needed: here, or in a [[gate]] of airlock.toml",
                    "limit"};
  part.line.order = rule != nullptr ? rule->order : Order::fifo;
  fields.finish();
  return part;
}

std::vector<AdmitCall> read_parts(Exchange& exchange, Fields& fields) {
  std::vector<AdmitCall> parts;
  for (Fields& each : fields.objects("gates", kMaxGates, "gate")) {
    try {
      parts.push_back(read_part(exchange, each));
    } catch (Rejection& rejection) {
      rejection.field = "gates[" + std::to_string(parts.size()) + "]." + rejection.field;
      throw;
    }
  }
  if (parts.empty()) throw Rejection{400, "is needed", "gates"};
  return parts;
}

GroupCall read_group(Exchange& exchange) {
  Fields fields(exchange.request());
  GroupCall call{.parts = read_parts(exchange, fields)};
  const auto cost = fields.number("cost", 1, kMaxLimit);
  call.name = fields.text("visitor", 200).value_or("");
  const std::string label = fields.text("label", kMaxLabelSize).value_or(exchange.peer().label);
  fields.finish();
  const VisitorId visitor =
      call.name.empty() ? VisitorId::random() : visitor_of(exchange.peer(), call.name);
  for (AdmitCall& part : call.parts) {
    part.cost = static_cast<std::uint32_t>(cost.value_or(1));
    part.visitor = visitor;
    part.label = label;
  }
  return call;
}

Response refused_group(const GroupCall& call, const GroupAnswer& answer) {
  // A visitor that waits at this gate by itself keeps its place there.
  const auto* const queued = std::get_if<Queued>(&answer.because);
  const Refused refused = queued == nullptr ? std::get<Refused>(answer.because)
                                            : Refused{.reason = Reason::full,
                                                      .retry_after = queued->next_check,
                                                      .rate = queued->rate};
  const AdmitCall& part = call.parts.at(answer.at);
  Response response = refused_response(refused, part.rates);
  OrderedJson json = refused_json(refused);
  json["gate"] = part.gate.text();
  response.body = json_response(response.status, json).body;
  return response;
}

Response granted_group(Api& api, Loop& loop, const GroupCall& call, const GroupAnswer& answer) {
  OrderedJson gates = OrderedJson::array();
  for (const Granted& granted : answer.granted) {
    OrderedJson json = {{"gate", granted.token.gate.text()}};
    json.update(granted_json(granted, Duration(0)));
    json.erase("answer");
    json.erase("waited_seconds");
    gates.push_back(std::move(json));
  }
  Response response = json_response(200, {{"answer", "granted"}, {"gates", gates}});
  if (call.name.empty()) {
    response.on_unwritten = [&api, &loop, granted = answer.granted] {
      for (const Granted& each : granted) {
        if (each.token.fence != 0) release_soon(api, loop, each.token);
      }
    };
  }
  return response;
}

Response ask_group(Api& api, Loop& loop, const GroupCall& call) {
  const GroupAnswer answer = api.store.admit_all(call.requests());
  return answer ? granted_group(api, loop, call, answer) : refused_group(call, answer);
}

}  // namespace

void admit_all(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  answer_by(api, exchange,
            [&api, &loop = exchange->loop(), call = read_group(*exchange)](const Store& /*store*/) {
              return ask_group(api, loop, call);
            });
}

}  // namespace airlock::server

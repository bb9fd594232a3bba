#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "airlock/error.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "check/check_answer.hpp"
#include "check/check_visitor.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"
#include "rights/require.hpp"
#include "room/session.hpp"

namespace airlock::server {
namespace {

// One question of a proxy.
struct CheckCall {
  GateName gate;
  CheckStyle style = CheckStyle::subrequest;
  VisitorId visitor = {};
  std::string label = {};
  ConfigPtr config = {};  // Owns the rule.
  const GateRule* rule = nullptr;

  // Refers to the call.
  [[nodiscard]] airlock::Request request() const;
};

airlock::Request CheckCall::request() const {
  airlock::Request request{.gate = gate,
                           .visitor = visitor,
                           .label = label,
                           .rates = rule->rates,
                           .hold = Hold::detached};
  if (rule->limit) request.permits = airlock::Permits{.limit = *rule->limit, .ttl = rule->ttl};
  const Duration patience = rule->check.patience;
  if (patience != Duration(0)) {
    // A visitor comes back after a third of its patience. What was handed to it stays until then.
    request.line = {.join = true,
                    .order = rule->order,
                    .max_waiting = rule->max_waiting,
                    .patience = patience,
                    .claim_window = patience / 2};
  }
  return request;
}

CheckStyle style_of(const std::string& word) {
  if (word.empty()) return CheckStyle::subrequest;
  if (word != "forward") throw Rejection{400, "has to be forward, or left out", "style"};
  return CheckStyle::forward;
}

const GateRule* rule_of(const Config& config, const GateName& gate) {
  const GateRule* const rule = config.gates.find(gate.view());
  if (rule == nullptr) throw Rejection{400, "has no [[gate]] in airlock.toml", "gate"};
  if (rule->limit && rule->check.source == CheckRule::Source::none) {
    throw Rejection{400, "has a limit, so a check has to name a visitor: see [gate.check]", "gate"};
  }
  return rule;
}

// Renews what the visitor uses, once in a quarter of its ttl. A lease that an operator took back is not renewed and ends
// after its grace; the check after that is a new question.
Answer ask_or_renew(const Store& store, const CheckCall& call) {
  Answer answer = store.admit(call.request());
  const auto* const granted = std::get_if<Granted>(&answer);
  const Duration ttl = call.rule->ttl;
  if (granted == nullptr || !granted->repeated || granted->expires_in > ttl - ttl / 4)
    return answer;
  const bool has_ended = store.renew(granted->token, ttl) == Renewal::gone;
  return has_ended ? store.admit(call.request()) : answer;
}

Response answer_to(const Store& store, const CheckCall& call) {
  try {
    return check_response(call.style, ask_or_renew(store, call), call.rule->rates);
  } catch (const StoreError&) {
    return outage_response(call.style, call.rule->check.admits_on_outage);
  }
}

// Rates without permits are those of each visitor, where there are any: each has a gate behind the name that was asked for.
void identify(CheckCall& call, const Exchange& exchange) {
  const CheckVisitor visitor = check_visitor(call.rule->check, exchange);
  call.label = visitor.label;
  if (call.rule->limit) {
    call.visitor = visitor_of(exchange.peer(), visitor.name);
    return;
  }
  call.visitor = VisitorId::random();
  if (!visitor.name.empty()) call.gate = gate_name(call.gate.view(), visitor.name);
}

void check_gate(Api& api, const ExchangePtr& exchange, CheckCall call) {
  try {
    identify(call, *exchange);
  } catch (const Rejection& rejection) {
    return exchange->answer(invalid_response(call.style, rejection));
  }
  answer_by(api, exchange,
            [call = std::move(call)](const Store& store) { return answer_to(store, call); });
}

// The path that the client of the proxy has asked for.
std::string_view original_path(const Request& request) {
  for (const char* const name : {"X-Forwarded-Uri", "X-Original-URI"}) {
    const auto values = request.values(name);
    if (values.size() == 1) return values.front();
  }
  return {};
}

void check_gate_of_room(Api& api, const ExchangePtr& exchange, const CheckCall& call,
                        const Room& room) {
  const RoomCheck style =
      call.style == CheckStyle::forward ? RoomCheck::forward : RoomCheck::subrequest;
  check_room(api, exchange, call.gate, room, style, original_path(exchange->request()));
}

}  // namespace

void check(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  const std::vector<std::string> query = query_values(exchange->request(), {"gate", "style"});
  CheckCall call{.gate = gate_named(query[0]), .style = style_of(query[1])};
  require(*exchange, Role::admit, call.gate);
  call.config = exchange->loop().config_pointer();
  if (const Room* const room = call.config->rooms.find(call.gate.view()))
    return check_gate_of_room(api, exchange, call, *room);
  call.rule = rule_of(*call.config, call.gate);
  check_gate(api, exchange, std::move(call));
}

}  // namespace airlock::server

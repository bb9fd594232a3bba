#include <functional>
#include <sstream>

#include "airlock/error.hpp"
#include "airlock/metrics.hpp"
#include "api/answers.hpp"
#include "api/api.hpp"
#include "config/gate_rules.hpp"
#include "gate_json.hpp"
#include "http/loop.hpp"
#include "operations/server_metrics.hpp"

namespace airlock::server {

Response unknown_gate() { return problem(404, "this gate is not known to the store", "gate"); }

namespace {

// The gates that the query asks for, all if it does not say, as far as the caller may observe them.
auto asked_gates(const Exchange& exchange) {
  std::string match = query_value(exchange.request(), "match");
  if (match.empty()) match = "*";
  return [match, grants = exchange.peer().grants](std::string_view gate) {
    return glob_matches(match, gate) && grants->allows(Role::observe, gate);
  };
}

// False if the store does not answer.
bool write_gates(const Store& store, const std::function<bool(std::string_view)>& include,
                 std::ostream& out) {
  std::ostringstream text;
  try {
    write_metrics(store, text, include);
  } catch (const StoreError&) {
    return false;
  }
  out << text.str();
  return true;
}

}  // namespace

void list_gates(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  answer_by(api, exchange, [include = asked_gates(*exchange)](const Store& store) {
    OrderedJson json = OrderedJson::array();
    for (const GateSummary& summary : store.survey(include))
      json.push_back(cli::summary_json(summary));
    return json_response(200, json);
  });
}

void show_gate(Api& api, const ExchangePtr& exchange, const Places& places) {
  answer_by(api, exchange, [gate = gate_in(places)](const Store& store) {
    const auto view = store.look(gate);
    return view ? json_response(200, cli::whole_json(*view)) : unknown_gate();
  });
}

void metrics(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  answer_by(
      api, exchange,
      [&shared = api.shared, &counters = api.rate_limit_counters,
       include = asked_gates(*exchange)](const Store& store) {
        std::ostringstream text;
        const bool is_available = write_gates(store, include, text);
        write_server_metrics(shared, is_available, text);
        counters.write(
            text, [&](std::string_view limit) { return include("rls:" + std::string(limit)); });
        return Response{.body = std::move(text).str(), .content_type = "text/plain; version=0.0.4"};
      });
}

void live(Api& /*api*/, const ExchangePtr& exchange, const Places& /*places*/) {
  exchange->answer(json_response(200, {{"status", "live"}}));
}

void ready(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  exchange->answer(api.shared.is_draining ? stopping_response()
                                          : json_response(200, {{"status", "ready"}}));
}

}  // namespace airlock::server

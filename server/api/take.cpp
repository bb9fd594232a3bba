#include <utility>
#include <variant>

#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "api/terms.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

const std::vector<std::pair<std::string_view, RateMode>> kModes = {{"take", RateMode::take},
                                                                   {"peek", RateMode::peek},
                                                                   {"at_most", RateMode::at_most},
                                                                   {"reserve", RateMode::reserve}};

struct TakeCall {
  GateName gate;
  std::vector<Rate> rates;
  RateMode mode = RateMode::take;
  std::uint32_t cost = 1;
};

Response take_once(const Store& store, const TakeCall& call) {
  const Answer answer = store.admit({.gate = call.gate,
                                     .visitor = VisitorId::random(),
                                     .rates = call.rates,
                                     .mode = call.mode,
                                     .cost = call.cost});
  if (const auto* const refused = std::get_if<Refused>(&answer))
    return refused_response(*refused, call.rates);
  const auto& granted = std::get<Granted>(answer);
  OrderedJson json = granted_json(granted, Duration(0));
  json.erase("waited_seconds");
  json.erase("repeated");
  if (call.mode == RateMode::at_most) json["taken"] = granted.taken;
  if (call.mode == RateMode::reserve)
    json["delay_seconds"] = static_cast<double>(granted.delay.count()) / 1e6;
  Response response = json_response(200, json);
  add_rate_fields(response, call.rates, granted.rate);
  return response;
}

}  // namespace

void take(Api& api, const ExchangePtr& exchange, const Places& places) {
  TakeCall call{.gate = gate_in(places)};
  Fields fields(exchange->request());
  const GateRule* const rule = exchange->loop().config().gates.find(call.gate.view());
  check_terms(*exchange, fields, call.gate, rule);
  call.rates = fields.rates("rates");
  if (call.rates.empty() && rule != nullptr) call.rates = rule->rates;
  if (call.rates.empty())
    throw Rejection{400, "are needed: here, or in a [[gate]] of airlock.toml", "rates"};
  call.mode = fields.choice("mode", kModes).value_or(RateMode::take);
  call.cost = static_cast<std::uint32_t>(fields.number("cost", 1, kMaxLimit).value_or(1));
  fields.finish();
  answer_by(api, exchange,
            [call = std::move(call)](const Store& store) { return take_once(store, call); });
}

}  // namespace airlock::server

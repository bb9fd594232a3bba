#include "check/check_answer.hpp"

#include <string>
#include <utility>
#include <variant>

#include "api/answers.hpp"
#include "http/exchange.hpp"

namespace airlock::server {
namespace {

// Their statuses, and what they say in the style that has a body.
struct Kind {
  std::string_view word;
  int subrequest;
  int forward;
  const char* detail = "";
};

constexpr Kind kAdmitted{"admitted", 204, 204};
constexpr Kind kQueued{"queued", 401, 429,
                       "the visitor waits in line; it keeps its place if it asks again in time"};
constexpr Kind kRefused{"refused", 403, 429, "the gate refuses"};
constexpr Kind kOutage{"outage", 403, 503, "the store does not answer"};
constexpr Kind kOutageAdmitted{"outage", 204, 204};

Response status_response(CheckStyle style, const Kind& kind,
                         const OrderedJson& more = OrderedJson::object()) {
  Response response{.status = style == CheckStyle::forward ? kind.forward : kind.subrequest};
  if (style == CheckStyle::forward && response.status != 204) {
    response = problem(response.status, kind.detail);
    OrderedJson json = OrderedJson::parse(response.body);
    json.update(more);
    response.body = json.dump() + "\n";
  }
  if (response.status == 204) response.fields.emplace_back("Cache-Control", "no-store");
  response.fields.emplace_back("Airlock-Status", kind.word);
  return response;
}

Response answer_granted(CheckStyle style, const Granted& granted, std::span<const Rate> rates) {
  Response response = status_response(style, kAdmitted);
  add_rate_fields(response, rates, granted.rate);
  return response;
}

Response answer_queued(CheckStyle style, const Queued& queued, std::span<const Rate> rates) {
  Response response = status_response(style, kQueued, queued_json(queued, ""));
  response.fields.emplace_back("Airlock-Position", std::to_string(queued.position));
  response.fields.emplace_back("Retry-After", whole_seconds(queued.next_check));
  add_rate_fields(response, rates, queued.rate);
  return response;
}

Response answer_refused(CheckStyle style, const Refused& refused, std::span<const Rate> rates) {
  Response response = status_response(style, kRefused, refused_json(refused));
  response.fields.emplace_back("Airlock-Reason", to_text(refused.reason));
  if (refused.retry_after != kForever)
    response.fields.emplace_back("Retry-After", whole_seconds(refused.retry_after));
  add_rate_fields(response, rates, refused.rate);
  return response;
}

}  // namespace

Response check_response(CheckStyle style, const Answer& answer, std::span<const Rate> rates) {
  if (const auto* const granted = std::get_if<Granted>(&answer))
    return answer_granted(style, *granted, rates);
  if (const auto* const queued = std::get_if<Queued>(&answer))
    return answer_queued(style, *queued, rates);
  return answer_refused(style, std::get<Refused>(answer), rates);
}

Response outage_response(CheckStyle style, bool admits) {
  Response response = status_response(style, admits ? kOutageAdmitted : kOutage);
  if (!admits) response.fields.emplace_back("Retry-After", "1");
  return response;
}

Response invalid_response(CheckStyle style, const Rejection& rejection) {
  Response response = problem(style == CheckStyle::forward ? rejection.status : 403,
                              rejection.detail, rejection.field);
  response.fields.emplace_back("Airlock-Status", "invalid");
  return response;
}

}  // namespace airlock::server

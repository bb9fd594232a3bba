#include "answers.hpp"

#include <algorithm>

#include "airlock/error.hpp"
#include "api/fields.hpp"
#include "gate_json.hpp"
#include "http/exchange.hpp"
#include "operations/come_back.hpp"

namespace airlock::server {
namespace {

using cli::seconds;

OrderedJson rate_json(const RateInfo& rate) {
  if (rate.limit == 0) return nullptr;
  return {{"limit", rate.limit},
          {"remaining", rate.remaining},
          {"retry_after_seconds", seconds(rate.retry_after)},
          {"reset_after_seconds", seconds(rate.reset_after)}};
}

// As RFC 6750 has it.
void add_challenge(Response& response, bool is_wrong) {
  response.fields.emplace_back(
      "WWW-Authenticate",
      is_wrong ? "Bearer realm=\"airlock\", error=\"invalid_token\"" : "Bearer realm=\"airlock\"");
}

std::uint32_t quota(const Rate& rate) { return rate.burst != 0 ? rate.burst : rate.count; }

}  // namespace

OrderedJson granted_json(const Granted& granted, Duration waited) {
  OrderedJson json = {{"answer", "granted"}};
  if (granted.token.fence != 0) {
    json["token"] = granted.token.text();
    json["fence"] = granted.token.fence;
    json["slot"] = granted.slot ? OrderedJson(*granted.slot) : OrderedJson(nullptr);
    json["expires_in_seconds"] = seconds(granted.expires_in);
  }
  json["waited_seconds"] = seconds(waited);
  json["repeated"] = granted.repeated;
  json["rate"] = rate_json(granted.rate);
  return json;
}

OrderedJson queued_json(const Queued& queued, std::string_view visitor) {
  OrderedJson json = {{"answer", "queued"}};
  if (!visitor.empty()) json["visitor"] = visitor;
  json["position"] = queued.position;
  json["waiting"] = queued.waiting;
  json["eta_seconds"] =
      queued.eta == Duration(0) ? OrderedJson(nullptr) : OrderedJson(seconds(queued.eta));
  json["next_check_seconds"] = seconds(queued.next_check);
  return json;
}

OrderedJson refused_json(const Refused& refused) {
  return {{"answer", "refused"},
          {"reason", to_text(refused.reason)},
          {"retry_after_seconds", seconds(refused.retry_after)},
          {"rate", rate_json(refused.rate)}};
}

std::string whole_seconds(Duration duration) {
  return std::to_string(
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(duration).count()));
}

void add_rate_fields(Response& response, std::span<const Rate> rates, const RateInfo& info) {
  if (info.limit == 0) return;
  std::string policy;
  std::string tightest;
  for (const Rate& rate : rates) {
    if (rate.algorithm == Rate::Algorithm::no_limit) continue;
    const std::string name = "\"" + rate.text() + "\"";
    policy += (policy.empty() ? "" : ", ") + name + ";q=" + std::to_string(quota(rate)) +
              ";w=" + whole_seconds(rate.period);
    if (tightest.empty() && quota(rate) == info.limit) tightest = name;
  }
  if (tightest.empty()) return;
  response.fields.emplace_back("RateLimit-Policy", policy);
  const std::string reset = info.reset_after == Duration(0) ? "0" : whole_seconds(info.reset_after);
  response.fields.emplace_back("RateLimit",
                               tightest + ";r=" + std::to_string(info.remaining) + ";t=" + reset);
}

Response json_response(int status, const OrderedJson& json) {
  return {.status = status,
          .body = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n"};
}

Response refused_response(const Refused& refused, std::span<const Rate> rates) {
  Response response = json_response(429, refused_json(refused));
  if (refused.retry_after != kForever)
    response.fields.emplace_back("Retry-After", whole_seconds(refused.retry_after));
  add_rate_fields(response, rates, refused.rate);
  return response;
}

Response stopping_response() {
  Response response = problem(503, "the server is stopping");
  response.fields.emplace_back("Retry-After", whole_seconds(come_back_after()));
  return response;
}

Response failure_response() {
  try {
    throw;
  } catch (const Rejection& rejection) {
    Response response = problem(rejection.status, rejection.detail, rejection.field);
    if (rejection.status == 401) add_challenge(response, !rejection.field.empty());
    if (rejection.status == 429) response.fields.emplace_back("Retry-After", "1");
    return response;
  } catch (const InvalidArgument& error) {
    return problem(400, error.what());
  } catch (const StoreError& error) {
    Response response =
        problem(503, std::string("the store is ") + to_text(error.kind()) + ": " + error.what());
    response.fields.emplace_back("Retry-After", "1");
    response.failure = error.what();
    return response;
  } catch (const Error& error) {
    return problem(410, error.what());
  } catch (const std::exception& error) {
    Response response = problem(500, "an error of the server itself");
    response.failure = error.what();
    return response;
  }
}

Response problem(int status, std::string_view detail, std::string_view field) {
  OrderedJson json = {{"type", "about:blank"},
                      {"title", reason_phrase(status)},
                      {"status", status},
                      {"detail", detail}};
  if (!field.empty()) json["field"] = field;
  Response response = json_response(status, json);
  response.content_type = "application/problem+json";
  return response;
}

}  // namespace airlock::server

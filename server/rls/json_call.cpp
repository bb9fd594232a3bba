#include <algorithm>

#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"
#include "rls/decision.hpp"
#include "rls/json.hpp"

namespace airlock::server {
namespace {

rls::RateLimitRequest read_request(const Request& request) {
  check_is_json(request);
  return rls::parse_json(request.body);
}

Response to_response(const rls::RateLimitResponse& answer) {
  const bool is_over = answer.overall_code == rls::Code::over_limit;
  Response response = json_response(is_over ? 429 : 200, rls::to_json(answer));
  if (!is_over) return response;
  std::chrono::seconds retry_after(0);
  for (const rls::DescriptorStatus& status : answer.statuses) {
    if (status.code == rls::Code::over_limit && status.until_reset)
      retry_after = std::max(retry_after, *status.until_reset);
  }
  if (retry_after.count() != 0)
    response.fields.emplace_back("Retry-After", std::to_string(retry_after.count()));
  return response;
}

Rejection rejection(const rls::InvalidRequest& invalid) {
  return {400, invalid.rule, invalid.field};
}

}  // namespace

void should_rate_limit(Api& api, const ExchangePtr& exchange, const Places& /*places*/) try {
  answer_by(
      api, exchange,
      [&counters = api.rate_limit_counters, config = exchange->loop().config_pointer(),
       grants = exchange->peer().grants,
       request = read_request(exchange->request())](const Store& store) {
        try {
          return to_response(rls::decide(store, config->descriptors, request, *grants, counters));
        } catch (const rls::InvalidRequest& invalid) {
          throw rejection(invalid);
        } catch (const rls::Forbidden& forbidden) {
          throw Rejection{403, forbidden.rule, forbidden.field};
        }
      });
} catch (const rls::InvalidRequest& invalid) {
  throw rejection(invalid);
}

}  // namespace airlock::server

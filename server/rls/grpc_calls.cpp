#include "rls/grpc_calls.hpp"

#include <array>
#include <string>
#include <utility>

#include "airlock/error.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"
#include "rls/decision.hpp"
#include "rls/protobuf.hpp"

namespace airlock::server {
namespace {

using grpc::CallPtr;
using grpc::Status;

constexpr std::string_view kRateLimitService = "envoy.service.ratelimit.v3.RateLimitService";

struct Method {
  std::string_view path;
  void (*handler)(Api& api, const CallPtr& call);
};

// What becomes of a call.
struct Result {
  Status status = Status::ok;
  std::string text = {};     // Of another status than ok.
  std::string message = {};  // Of ok.
};

Result result_of_exception() {
  try {
    throw;
  } catch (const rls::InvalidRequest& invalid) {
    return {Status::invalid_argument, invalid.field + ": " + invalid.rule};
  } catch (const rls::Forbidden& forbidden) {
    return {Status::permission_denied, forbidden.field + ": " + forbidden.rule};
  } catch (const Rejection& rejection) {  // Of a caller that is not known.
    return {Status::unauthenticated, rejection.detail};
  } catch (const StoreError& error) {
    return {Status::unavailable,
            std::string("the store is ") + to_text(error.kind()) + ": " + error.what()};
  } catch (const std::exception&) {
    return {Status::internal, "an error of the server itself"};
  }
}

void answer(const CallPtr& call, const Result& result) {
  if (result.status == Status::ok) call->send(result.message);
  call->finish(result.status, result.text);
}

bool is_late(const grpc::CallRequest& request) {
  return std::chrono::steady_clock::now() >= request.deadline;
}

// A call that is late before the store is asked takes nothing.
void should_rate_limit(Api& api, const CallPtr& call) {
  const Caller caller =
      call->loop().config().rights.identify(call->peer(), call->request().authorization);
  const auto result = std::make_shared<Result>();
  api.steps.run(
      call->loop(),
      [&api, result, deadline = call->request().deadline, config = call->loop().config_pointer(),
       grants = caller.grants, request = rls::parse_protobuf(call->request().message)] {
        if (is_late({.deadline = deadline})) {
          *result = {Status::deadline_exceeded, "the time is up"};
          return;
        }
        try {
          result->message = to_protobuf(rls::decide(api.store, config->descriptors, request,
                                                    *grants, api.rate_limit_counters));
        } catch (...) {
          *result = result_of_exception();
        }
      },
      [call, result] { answer(call, *result); });
}

bool is_known(std::string_view service) { return service.empty() || service == kRateLimitService; }

rls::Serving serving(const Api& api) {
  return api.shared.is_draining ? rls::Serving::not_serving : rls::Serving::serving;
}

void check_health(Api& api, const CallPtr& call) {
  if (!is_known(rls::parse_health_request(call->request().message)))
    return call->finish(Status::not_found, "this service is not known");
  call->send(rls::to_protobuf(serving(api)));
  call->finish(Status::ok);
}

void watch_health(Api& api, const CallPtr& call) {
  const bool knows = is_known(rls::parse_health_request(call->request().message));
  call->send(rls::to_protobuf(knows ? serving(api) : rls::Serving::service_unknown));
  call->on_drain([call, knows] {
    if (knows) call->send(rls::to_protobuf(rls::Serving::not_serving));
    call->finish(Status::unavailable, "the server is stopping");
  });
}

constexpr std::array kMethods = {
    Method{"/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", should_rate_limit},
    Method{"/grpc.health.v1.Health/Check", check_health},
    Method{"/grpc.health.v1.Health/Watch", watch_health},
};

}  // namespace

void handle_grpc(Api& api, const CallPtr& call) {
  for (const Method& method : kMethods) {
    if (call->request().path != method.path) continue;
    try {
      return method.handler(api, call);
    } catch (...) {
      return answer(call, result_of_exception());
    }
  }
  call->finish(Status::unimplemented, "this method is not known");
}

}  // namespace airlock::server

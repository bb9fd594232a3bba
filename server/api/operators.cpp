#include <optional>

#include "airlock/request.hpp"
#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "gate_json.hpp"

namespace airlock::server {
namespace {

constexpr std::size_t kMaxReporter = 64;
constexpr std::string_view kOperator = "operator";

Response done() { return {.status = 204}; }

// The store calls the operator's own pause by no name.
std::string stored_reporter(const std::string& reporter) {
  return reporter == kOperator ? "" : reporter;
}

std::optional<VisitorId> find_holder(const Store& store, const GateName& gate,
                                     const std::string& digest) {
  const auto view = store.look(gate);
  if (!view) return std::nullopt;
  for (const HolderView& holder : view->holders) {
    if (cli::digest(holder.visitor) == digest) return holder.visitor;
  }
  return std::nullopt;
}

Response revoke_in(const Store& store, const GateName& gate,
                   const std::optional<std::string>& digest, Revoke how) {
  std::optional<VisitorId> visitor;
  if (digest) {
    visitor = find_holder(store, gate, *digest);
    if (!visitor) return problem(404, "no holder of this gate has this digest", "visitor");
  }
  return json_response(200, {{"revoked", store.revoke(gate, visitor, how)}});
}

}  // namespace

void set_limit(Api& api, const ExchangePtr& exchange, const Places& places) {
  Fields fields(exchange->request());
  const auto limit = fields.number("limit", 0, kMaxLimit);
  if (!limit) throw Rejection{400, "is needed", "limit"};
  fields.finish();
  answer_by(api, exchange, [gate = gate_in(places), limit](const Store& store) {
    store.set_limit(gate, static_cast<std::uint32_t>(*limit));
    return done();
  });
}

void clear_limit(Api& api, const ExchangePtr& exchange, const Places& places) {
  answer_by(api, exchange, [gate = gate_in(places)](const Store& store) {
    store.set_limit(gate, std::nullopt);
    return done();
  });
}

void pause(Api& api, const ExchangePtr& exchange, const Places& places) {
  Fields fields(exchange->request());
  const auto duration = fields.duration("for", std::chrono::milliseconds(1), kMaxTtl);
  if (!duration) throw Rejection{400, "is needed", "for"};
  const std::string reporter = stored_reporter(fields.text("reporter", kMaxReporter).value_or(""));
  fields.finish();
  answer_by(api, exchange, [gate = gate_in(places), duration, reporter](const Store& store) {
    store.pause(gate, *duration, reporter);
    return done();
  });
}

void resume(Api& api, const ExchangePtr& exchange, const Places& places) {
  const std::string reporter = stored_reporter(query_value(exchange->request(), "reporter"));
  answer_by(api, exchange, [gate = gate_in(places), reporter](const Store& store) {
    return store.resume(gate, reporter)
               ? done()
               : problem(404, "this reporter has not paused the gate", "reporter");
  });
}

void revoke(Api& api, const ExchangePtr& exchange, const Places& places) {
  Fields fields(exchange->request());
  const auto digest = fields.text("visitor", 64);
  const auto how = fields.flag("now").value_or(false) ? Revoke::now : Revoke::graceful;
  fields.finish();
  answer_by(api, exchange, [gate = gate_in(places), digest, how](const Store& store) {
    return revoke_in(store, gate, digest, how);
  });
}

void purge(Api& api, const ExchangePtr& exchange, const Places& places) {
  answer_by(api, exchange, [gate = gate_in(places)](const Store& store) {
    return store.purge(gate) ? done() : problem(404, "this gate is not known to the store", "gate");
  });
}

}  // namespace airlock::server

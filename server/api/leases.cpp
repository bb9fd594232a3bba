#include "airlock/error.hpp"
#include "airlock/request.hpp"
#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "api/terms.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"
#include "rights/require.hpp"

namespace airlock::server {
namespace {

constexpr std::size_t kMaxToken = 1024;

Token read_token(Fields& fields) {
  const auto text = fields.text("token", kMaxToken);
  if (!text) throw Rejection{400, "is needed", "token"};
  try {
    return Token::parse(*text);
  } catch (const InvalidArgument&) {
    throw Rejection{400, "is not the text of a token", "token"};
  }
}

// The caller needs the role at the gate of the token.
Token read_allowed_token(const Exchange& exchange, Fields& fields) {
  Token token = read_token(fields);
  require(exchange, Role::admit, token.gate);
  return token;
}

Response renewed(const Store& store, const Token& token, Duration ttl) {
  switch (store.renew(token, ttl)) {
    case Renewal::renewed:
      return json_response(200, {{"answer", "renewed"},
                                 {"expires_in_seconds", static_cast<double>(ttl.count()) / 1e6}});
    case Renewal::revoked:
      return problem(410, "an operator has revoked the lease; stop the work");
    case Renewal::unknown:
      return problem(503, "the store did not answer for this lease");
    case Renewal::no_room:
    case Renewal::gone:
      break;
  }
  return problem(410, "the lease has ended; stop the work");
}

}  // namespace

void renew(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  Fields fields(exchange->request());
  const Token token = read_allowed_token(*exchange, fields);
  const GateRule* const rule = exchange->loop().config().gates.find(token.gate.view());
  const Duration ttl = fields.duration("ttl", std::chrono::milliseconds(20), kMaxTtl)
                           .value_or(rule != nullptr ? rule->ttl : GateRule().ttl);
  check_ttl(*exchange, ttl, token.gate, rule);
  fields.finish();
  answer_by(api, exchange, [token, ttl](const Store& store) { return renewed(store, token, ttl); });
}

void release(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  Fields fields(exchange->request());
  const Token token = read_allowed_token(*exchange, fields);
  fields.finish();
  answer_by(api, exchange, [token](const Store& store) {
    return store.release(token) ? json_response(200, {{"answer", "released"}})
                                : problem(410, "the lease had ended before");
  });
}

void leave(Api& api, const ExchangePtr& exchange, const Places& places) {
  answer_by(api, exchange,
            [gate = gate_in(places),
             visitor = visitor_of(exchange->peer(), places.visitor)](const Store& store) {
              return store.leave(gate, visitor) ? json_response(200, {{"answer", "left"}})
                                                : problem(404, "this visitor does not wait here");
            });
}

}  // namespace airlock::server

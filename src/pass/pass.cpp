#include "airlock/pass.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "airlock/error.hpp"
#include "base/clock.hpp"
#include "pass/keys.hpp"
#include "pass/pass_text.hpp"

namespace airlock {
namespace {

using passes::Kind;
using passes::Statement;

// For clocks of two hosts, on `issued` alone: what has expired has expired.
constexpr Duration kLeeway = std::chrono::seconds(1);

Instant now_of(const PassContext& context) {
  return context.now ? *context.now : Clock::system().wall();
}

// The body has no zero byte, so each pair of body and bound bytes is another message.
base::Digest authenticate(const base::HmacKey& key, std::string_view body,
                          const PassContext& context) {
  if (!context.bound) return key.authenticate({body});
  return key.authenticate({body, std::string_view("\0", 1), *context.bound});
}

std::string sign(const PurposeKeys& keys, const Statement& statement, const PassContext& context) {
  if (context.bound && context.bound->empty()) {
    throw InvalidArgument("pass: the bound bytes are empty; leave them out to bind to nothing");
  }
  if (statement.issued < Instant(0)) {
    throw InvalidArgument("pass: now is before 1970: " + std::to_string(statement.issued.count()) +
                          " us");
  }
  std::string body = passes::write_body(statement);
  const base::Digest mac = authenticate(keys.of(statement.kind), body, context);
  return passes::write_text(std::move(body), mac);
}

struct Demand {
  Kind kind;
  const GateName& gate;
  const PassContext& context;
};

// Nothing that the text says counts before its MAC is known to be right, except which key to try.
template <typename Map>
std::variant<Statement, PassFault> verify(const Map& by_kid, std::string_view text,
                                          const Demand& demand) {
  auto read = passes::read_text(text);
  if (!read) return PassFault::malformed;
  Statement& statement = read->statement;
  if (statement.kind != demand.kind) return PassFault::other_kind;
  const auto keys = by_kid.find(statement.kid);
  if (keys == by_kid.end()) return PassFault::unknown_key;
  const base::HmacKey& key = keys->second.of(demand.kind);
  if (!base::is_same_digest(authenticate(key, read->body, demand.context), read->mac)) {
    return PassFault::forged;
  }
  const Instant now = now_of(demand.context);
  if (statement.issued > saturating_add(now, kLeeway)) return PassFault::not_yet_valid;
  if (statement.expires <= now) return PassFault::expired;
  if (statement.token.gate != demand.gate) return PassFault::other_gate;
  return std::move(statement);
}

}  // namespace

std::string Keyring::sign_pass(const Token& token, AnyDuration expires_in,
                               const PassContext& context, AnyDuration clock_skew) const {
  if (clock_skew < Duration(0)) {
    throw InvalidArgument("pass: clock_skew " + std::to_string(clock_skew.count()) +
                          " us is negative; a pass must not outlive its lease");
  }
  const Instant now = now_of(context);
  const Instant end = saturating_sub(saturating_add(now, expires_in), clock_skew);
  return sign(keys_->by_kid.find(keys_->signing)->second,
              {.kind = Kind::pass,
               .kid = keys_->signing,
               .token = token,
               .issued = now,
               .expires = std::max(now, end)},
              context);
}

std::string Keyring::sign_capability(const Token& token, AnyDuration lifetime,
                                     const PassContext& context) const {
  const Instant now = now_of(context);
  return sign(keys_->by_kid.find(keys_->signing)->second,
              {.kind = Kind::capability,
               .kid = keys_->signing,
               .token = token,
               .issued = now,
               .expires = std::max(now, saturating_add(now, lifetime))},
              context);
}

std::variant<Pass, PassFault> Keyring::check_pass(std::string_view text, const GateName& gate,
                                                  const PassContext& context) const {
  const auto verified =
      verify(keys_->by_kid, text, {.kind = Kind::pass, .gate = gate, .context = context});
  if (const auto* fault = std::get_if<PassFault>(&verified)) return *fault;
  const auto& statement = std::get<Statement>(verified);
  return Pass(statement.token, statement.issued, statement.expires);
}

std::variant<Capability, PassFault> Keyring::check_capability(std::string_view text,
                                                              const GateName& gate,
                                                              const PassContext& context) const {
  const auto verified =
      verify(keys_->by_kid, text, {.kind = Kind::capability, .gate = gate, .context = context});
  if (const auto* fault = std::get_if<PassFault>(&verified)) return *fault;
  const auto& statement = std::get<Statement>(verified);
  return Capability(statement.token, statement.issued, statement.expires);
}

}  // namespace airlock

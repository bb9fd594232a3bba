#include "store/redis/client.hpp"

#include <algorithm>
#include <utility>

#include "store/redis/exchange.hpp"

namespace airlock::redis {
namespace {

// Empty in the usual case, that nothing goes ahead.
std::vector<const Call*> joined(std::span<const Call> ahead, const Call& call) {
  std::vector<const Call*> all;
  if (ahead.empty()) return all;
  for (const Call& each : ahead) all.push_back(&each);
  all.push_back(&call);
  return all;
}

void check(Node& node, const std::string& where, const Reply& reply) {
  if (!reply.is_error()) return;
  if (is_unavailable(reply)) node.pool.reconnect();
  throw at(where, refusal_of(reply.text()));
}

void take_in(Exchange&& done, Client::Ran& ran) {
  ran.reply = std::move(done.replies.back());
  done.replies.pop_back();
  ran.ahead = std::move(done.replies);
  ran.in_order = done.in_order && std::ranges::none_of(ran.ahead, &Reply::is_error);
  ran.acknowledged = done.acknowledged;
}

}  // namespace

// Follows what a server of a cluster says of somebody else's slot; who is to be asked once.
NodePtr Client::follow(const RedirectReply& to, const std::string& host_asked) {
  Address address = options_.address;
  address.host = to.host.empty() ? host_asked : to.host;
  address.port = to.port;
  if (!to.for_good) return topology_.node_at(address);
  topology_.move(to.slot, address);
  return nullptr;
}

Client::Ran Client::run(const Call& call, RetryPolicy policy, const Deadline& deadline,
                        std::span<const Call> ahead) {
  const std::vector<const Call*> many = joined(ahead, call);
  const Call* const one = &call;
  const std::span<const Call* const> calls = many.empty() ? std::span(&one, 1) : std::span(many);
  Ran ran;
  NodePtr once;  // Who has the keys while their slot is on its way.
  for (std::size_t attempt = 1;; ++attempt) {
    rest_before(attempt, deadline);
    try {
      const bool asking = once != nullptr;
      const NodePtr node =
          asking ? std::exchange(once, nullptr) : topology_.node_of(call.slot(), deadline);
      const Deadline limit = of_one_attempt(topology_, policy, deadline);
      Pool::Lent connection = node->pool.take(call.slot(), limit);
      Exchange done = exchange(*connection, calls, Asking{asking}, limit);
      const auto to = RedirectReply::parse(done.replies.back());
      if (!to || !topology_.has_slots()) {
        check(*node, connection->where(), done.replies.back());
        take_in(std::move(done), ran);
        return ran;
      }
      if (deadline.is_over())
        throw too_late("the cluster is moving the gate to another server and has not finished");
      once = follow(*to, connection->host());
    } catch (const StoreError& error) {
      ran.perhaps_twice = ran.perhaps_twice || error.outcome() == Outcome::unknown;
      if (!is_worth_repeating(topology_, error, policy, attempt, deadline)) {
        throw ran.perhaps_twice ? unknown(error) : error;
      }
      topology_.invalidate(deadline);
    }
  }
}

Batch Client::run(std::span<const Call> calls, const Deadline& deadline) {
  return run_batch(topology_, calls, deadline, [&](const Call& call) {
    Ran ran = run(call, RetryPolicy::always, deadline);
    if (!ran.acknowledged) throw too_few_replicas();
    return std::move(ran.reply);
  });
}

Reply Client::ask(Node& node, const Commands& commands, const Deadline& deadline) {
  for (std::size_t attempt = 1;; ++attempt) {
    rest_before(attempt, deadline);
    try {
      const Deadline limit = of_one_attempt(topology_, RetryPolicy::always, deadline);
      Pool::Lent connection = node.pool.take(0, limit);
      Reply reply = connection->ask(commands, limit);
      check(node, connection->where(), reply);
      return reply;
    } catch (const StoreError& error) {
      if (!is_worth_repeating(topology_, error, RetryPolicy::always, attempt, deadline)) throw;
    }
  }
}

std::uint64_t Client::connections() {
  if (!has_one_server()) return 0;
  return topology_.node_of(0, Deadline(Deadline::Clock::time_point{}))->pool.opened();
}

}  // namespace airlock::redis

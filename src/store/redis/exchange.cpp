#include "store/redis/exchange.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

using Calls = std::span<const Call* const>;

bool is_unknown_script(const Reply& reply) {
  return reply.is_error() && reply.text().starts_with("NOSCRIPT");
}

bool awaits_replicas(Calls calls, const ExchangeOptions& options) {
  return options.replicas_ack != 0 &&
         std::ranges::any_of(calls, [](const Call* call) { return call->is_lasting(); });
}

Exchange exchange_once(Connection& connection, Calls calls, Call::By by,
                       const ExchangeOptions& options, const Deadline& deadline) {
  const bool checks = connection.is_check_due();
  const bool waits = awaits_replicas(calls, options);
  const bool asking = options.asking;
  std::string bytes;
  Commands extra;
  for (const Call* const call : calls) {
    if (asking) bytes.append("*1\r\n$6\r\nASKING\r\n");
    call->append_to(bytes, by, call->has_run_id() ? connection.run_id(deadline) : "");
  }
  if (waits) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left()) / 2;
    extra.add_all({"WAIT", std::to_string(options.replicas_ack),
                   std::to_string(std::max<std::int64_t>(ms.count(), 1))});
  }
  if (checks) extra.add_all({"INFO", "memory"});
  bytes.append(extra.bytes());
  connection.send(bytes, deadline,
                  calls.size() * (asking ? 2 : 1) + (waits ? 1 : 0) + (checks ? 1 : 0));

  Exchange done;
  done.replies.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (asking) (void)connection.read(deadline);
    done.replies.push_back(connection.read(deadline));
  }
  const Reply replicas = waits ? connection.read(deadline) : Reply();
  if (checks) connection.note_memory(connection.read(deadline));
  if (waits) {
    if (replicas.is_error()) throw unknown(refusal_of(replicas.text()));  // The calls were made.
    done.acknowledged = replicas.integer() >= options.replicas_ack;
  }
  return done;
}

}  // namespace

bool is_unavailable(const Reply& reply) {
  return reply.is_error() && refusal_of(reply.text()).kind() == StoreError::Kind::unavailable;
}

Exchange exchange(Connection& connection, Calls calls, const ExchangeOptions& options,
                  const Deadline& deadline) {
  Exchange done = exchange_once(connection, calls, Call::By::sha1, options, deadline);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!is_unknown_script(done.replies[i])) continue;
    Exchange again =
        exchange_once(connection, calls.subspan(i, 1), Call::By::text, options, deadline);
    done.replies[i] = std::move(again.replies.front());
    if (calls[i]->is_lasting()) done.acknowledged = again.acknowledged;
    if (!is_unknown_script(done.replies.back())) done.in_order = i + 1 == calls.size();
  }
  return done;
}

}  // namespace airlock::redis

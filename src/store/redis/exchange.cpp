#include "store/redis/exchange.hpp"

#include <string>
#include <utility>

#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

using Calls = std::span<const Call* const>;

bool is_unknown_script(const Reply& reply) {
  return reply.is_error() && reply.text().starts_with("NOSCRIPT");
}

Exchange exchange_once(Pipeline& pipeline, Calls calls, Call::By by, Asking asking,
                       const Deadline& deadline) {
  const bool asks = asking == Asking::yes;
  Pipeline::Request request{.bytes = {}, .replies = calls.size() * (asks ? 2 : 1)};
  for (const Call* const call : calls) {
    if (asks) request.bytes.append("*1\r\n$6\r\nASKING\r\n");
    call->append_to(request.bytes, by, call->has_run_id() ? pipeline.run_id(deadline) : "");
    request.needs_ack = request.needs_ack || call->needs_ack();
  }
  Pipeline::Response response = pipeline.exchange(std::move(request), deadline);

  Exchange done{.replies = std::move(response.replies), .acknowledged = response.acknowledged};
  if (asks) {  // Every other one is to ASKING.
    for (std::size_t i = 0; i < calls.size(); ++i) {
      done.replies[i] = std::move(done.replies[2 * i + 1]);
    }
    done.replies.resize(calls.size());
  }
  return done;
}

}  // namespace

bool is_unavailable(const Reply& reply) {
  return reply.is_error() && refusal_of(reply.text()).kind() == StoreError::Kind::unavailable;
}

Exchange exchange(Pipeline& pipeline, Calls calls, Asking asking, const Deadline& deadline) {
  Exchange done = exchange_once(pipeline, calls, Call::By::sha1, asking, deadline);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!is_unknown_script(done.replies[i])) continue;
    Exchange again = exchange_once(pipeline, calls.subspan(i, 1), Call::By::text, asking, deadline);
    done.replies[i] = std::move(again.replies.front());
    if (calls[i]->needs_ack()) done.acknowledged = again.acknowledged;
    if (!is_unknown_script(done.replies.back())) done.in_order = i + 1 == calls.size();
  }
  return done;
}

}  // namespace airlock::redis

#include "operations/request_trace.hpp"

#include "http/exchange.hpp"
#include "http/loop.hpp"

namespace airlock::server {

void note_request(Loop& loop, const RequestTrace& trace, const Peer& peer, const Request* request,
                  int status) {
  constexpr int kInternalError = 500;
  Operations& operations = loop.shared().operations;
  const auto duration = RequestTrace::Clock::now() - trace.began;
  loop.tally().count(trace.route, status, trace.is_stream, duration);
  if (!trace.failure.empty())
    operations.errors.report(status == kInternalError ? "internal" : "store", trace.failure);
  if (!operations.access.is_on()) return;
  const std::string client = trace.client ? trace.client->to_string() : "";
  operations.access.write({.principal = trace.is_identified ? peer.principal : std::string_view(),
                           .peer = peer.label,
                           .client = client,
                           .method = request != nullptr ? request->method : "",
                           .path = request != nullptr ? request->path : "",
                           .status = status,
                           .bytes = trace.bytes,
                           .duration = duration});
}

}  // namespace airlock::server

#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "airlock/duration.hpp"
#include "airlock/pass.hpp"
#include "airlock/token.hpp"

namespace airlock::server {

// What this server knows of sessions besides their passes: which one was extended, and which has ended before its pass.
// Any thread.
class Sessions {
 public:
  enum class Next : std::uint8_t {
    nothing,  // The pass is young enough.
    renew,    // The caller asks the store, and then calls renewed(), or failed().
    reissue,  // Another request has extended the session: a new pass until `expires`.
    ended,
  };
  struct Advice {
    Next next = Next::nothing;
    Instant expires{0};
  };

  // What to do for a request with this pass, which is good. The store is asked once a quarter of the ttl has passed, and at
  // most once in an eighth of it.
  [[nodiscard]] Advice advise(const Pass& pass, Duration ttl, Instant now);

  void renewed(const Pass& pass, Instant now, Instant expires);
  void failed(const Pass& pass);  // The store did not say.
  void end(const VisitorId& visitor, Fence fence, Instant until);

 private:
  struct Session {
    Fence fence = 0;
    Instant renewed{0};
    Instant expires{0};  // Of the longest pass that is known; then this is forgotten.
    bool is_asking = false;
    bool has_ended = false;
  };

  Session& at(const VisitorId& visitor, Fence fence);
  void sweep(Instant now);

  std::mutex mutex_;
  std::unordered_map<VisitorId, Session> sessions_;
  std::size_t sweep_at_ = 1'024;
};

}  // namespace airlock::server

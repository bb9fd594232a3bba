#include "room/sessions.hpp"

#include <algorithm>

namespace airlock::server {

// A later admission of the same visitor is another session.
Sessions::Session& Sessions::at(const VisitorId& visitor, Fence fence) {
  Session& session = sessions_[visitor];
  if (session.fence < fence) session = {.fence = fence};
  return session;
}

Sessions::Advice Sessions::advise(const Pass& pass, Duration ttl, Instant now) {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(pass.visitor());
  const Session* const known = found == sessions_.end() ? nullptr : &found->second;
  if (known != nullptr &&
      (pass.fence() < known->fence || (pass.fence() == known->fence && known->has_ended)))
    return {.next = Next::ended};
  if (now - pass.issued() < ttl / 4) return {};
  sweep(now);
  Session& session = at(pass.visitor(), pass.fence());
  session.expires = std::max(session.expires, pass.expires());
  if (now - session.renewed < ttl / 8) return {.next = Next::reissue, .expires = session.expires};
  if (session.is_asking) return {};
  session.is_asking = true;
  return {.next = Next::renew};
}

void Sessions::renewed(const Pass& pass, Instant now, Instant expires) {
  const std::scoped_lock lock(mutex_);
  Session& session = at(pass.visitor(), pass.fence());
  if (session.fence != pass.fence()) return;
  session.is_asking = false;
  session.renewed = now;
  session.expires = std::max(session.expires, expires);
}

void Sessions::failed(const Pass& pass) {
  const std::scoped_lock lock(mutex_);
  Session& session = at(pass.visitor(), pass.fence());
  if (session.fence == pass.fence()) session.is_asking = false;
}

void Sessions::end(const VisitorId& visitor, Fence fence, Instant until) {
  const std::scoped_lock lock(mutex_);
  Session& session = at(visitor, fence);
  if (session.fence != fence) return;
  session.has_ended = true;
  session.is_asking = false;
  session.expires = std::max(session.expires, until);
}

// Where a session is not known, its pass has expired.
void Sessions::sweep(Instant now) {
  if (sessions_.size() < sweep_at_) return;
  std::erase_if(sessions_, [now](const auto& each) { return each.second.expires < now; });
  sweep_at_ = std::max<std::size_t>(1'024, 2 * sessions_.size());
}

}  // namespace airlock::server

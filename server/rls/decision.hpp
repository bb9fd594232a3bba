#pragma once

#include "airlock/store.hpp"
#include "rights/role.hpp"
#include "rls/counters.hpp"
#include "rls/descriptors.hpp"
#include "rls/messages.hpp"

namespace airlock::server::rls {

// Decides all descriptors of a request. If one is over its limit, the others take nothing:
//
// - In an atomic domain all are decided in one step of the store.
// - Else one after the other, and what those before took is given back. In between, others may find that taken and be
//   refused; never is more let through than the limits say. What cannot be given back, because the store does not answer or
//   a window has passed, comes back by time.
//
// Limits in shadow mode are asked after the others and take only where those let the request through. What
// `is_negative_hits` gives back is given back in any case.
//
// The caller needs the role admit at the gate of each limit, and define to bring a limit along.
//
// Throws InvalidRequest or Forbidden before anything is taken, or StoreError.
[[nodiscard]] RateLimitResponse decide(const Store& store, const Descriptors& descriptors,
                                       const RateLimitRequest& request, const Grants& grants,
                                       Counters& counters);

}  // namespace airlock::server::rls

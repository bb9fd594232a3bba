#pragma once

#include <memory>

#include "airlock/duration.hpp"
#include "airlock/export.hpp"
#include "airlock/store.hpp"

// How a process ends its work at a store.
//
//   close(store);             // Who waits is told; nobody enters any more.
//   drain(store, 10s);        // What is inside comes out.
//   flush(store, 1s);         // What was given back is back.
//
// Without a store they are InvalidArgument. A duration of 0 or less does not wait.

namespace airlock {

// From now on airlocks, bulkheads and locks of this process at this store let nobody in: new calls
// and those that wait end with a StoreError of kind closed. Leases are still kept and given back.
AIRLOCK_EXPORT void close(const std::shared_ptr<Store>& store);

// Waits until this process holds no lease of the store. False: the time was up before.
[[nodiscard]] AIRLOCK_EXPORT bool drain(const std::shared_ptr<Store>& store, Duration at_most);

// Waits until everything that destructors gave back or left has reached the store. False: the time
// was up.
[[nodiscard]] AIRLOCK_EXPORT bool flush(const std::shared_ptr<Store>& store, Duration at_most);

}  // namespace airlock

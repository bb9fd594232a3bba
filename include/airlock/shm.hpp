#pragma once

#include <string_view>

#include "airlock/export.hpp"

namespace airlock {

// Removes the segment of a `shm:` URI and all that is in it. False: there was none.
//
//   remove_shm_store("shm:batch");
//
// For when nobody uses it any more; nothing else removes one. Processes that still do find out
// within a second: their leases are lost, their next call is StoreError, the one after it begins a
// new segment.
AIRLOCK_EXPORT bool remove_shm_store(std::string_view uri);

}  // namespace airlock

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/version.hpp"

// The segments of `shm:` stores, seen from outside.

namespace airlock {

// Removes the segment of a `shm:` URI and all that is in it. False: there was none.
//
//   remove_shm_store("shm:batch");
//
// For when nobody uses it any more; nothing else removes one. Processes that still do find out
// within a second: their leases are lost, their next call is StoreError, the one after it begins a
// new segment.
AIRLOCK_EXPORT bool remove_shm_store(std::string_view uri);

// Whether the segment of a `shm:` URI is there. Makes nothing.
[[nodiscard]] AIRLOCK_EXPORT bool has_shm_store(std::string_view uri);

// A segment as it was read from outside: without its locks, so that numbers may be a step apart.
struct ShmSegment {
  std::string name;
  std::string path;
  std::uint32_t owner = 0;   // The uid.
  std::uint64_t bytes = 0;   // The memory that it takes. The file itself is sparse.
  std::uint32_t living = 0;  // Processes that use it.
  std::uint32_t dead = 0;    // Processes that ended without leaving and were not noticed yet.
  std::uint32_t gates = 0;
  std::uint64_t holders = 0;  // Detached ones and those of the dead included.
  std::string problem = {};   // Why nothing more is known; then only name and path are, and perhaps
                              // owner, bytes and whether anybody lives.
};

// What lies in the folder that the segment of this URI is in, by name. Makes nothing.
[[nodiscard]] AIRLOCK_EXPORT std::vector<ShmSegment> list_shm_stores(std::string_view uri = "shm:");

// The same for the default folders of all users. Those that must not be read are listed too.
[[nodiscard]] AIRLOCK_EXPORT std::vector<ShmSegment> list_all_shm_stores();

}  // namespace airlock

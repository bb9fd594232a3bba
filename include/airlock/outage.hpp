#pragma once

#include <cstdint>

namespace airlock {

// Who gets in during an outage of the store.
//
// An outage is a StoreError of kind `unavailable` and of no other kind: the store cannot be reached
// (refused, cut off, no answer in time) or serves nobody (a Redis server that loads its data or is a
// replica). A store that is reached and says something else is not an outage: `busy` (the owner of
// a lock is stopped or starved, a script runs too long), `no_room` (memory, threads, descriptors),
// `incompatible` (rights, versions, foreign keys) and `closed` are thrown under every policy, as
// SealAcquiringError over the StoreError (closed: the StoreError itself), and let nobody in.
//
// A Redis server that cannot be reached fails calls at once, for every object that uses it: one
// caller tries it again after 50 ms, then after about twice as long each time, up to 1 s. Other
// servers, gates and stores are not affected.
enum class Outage : std::uint8_t {
  closed,  // Nobody gets in: SealAcquiringError.
  open,    // Everybody gets in, unguarded: fence 0, Lease::guarded() is false.
  local,   // As many as `local_limit` of this process get in, unguarded; others are refused.
};

[[nodiscard]] constexpr const char* to_text(Outage outage) noexcept {
  constexpr const char* kTexts[] = {"closed", "open", "local"};
  return kTexts[static_cast<std::uint8_t>(outage)];
}

}  // namespace airlock

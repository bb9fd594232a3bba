#pragma once

#include <cstdint>
#include <memory>

#include "airlock/seal.hpp"
#include "airlock/version.hpp"

namespace airlock {

struct LockOptions {
  AnyDuration ttl = kSealTtl;  // A holder that vanished is gone after this, at the latest.
  std::uint32_t readers = 1;   // How many may share it. All who use the gate say the same.
};

// One holder at a time, or several that only read.
//
//   LockSeal nightly(store, "nightly-report", {.ttl = 10min});
//   if (auto held = nightly.try_acquire()) {
//     write_report(held->token.fence);
//     nightly.release(held->token);
//   }
//
// A reader has one slot of `readers`, the writer has them all. An operator's limit can lower their
// number, never raise it. There is no line: readers that keep coming keep a writer out.
class AIRLOCK_EXPORT LockSeal : public GateLockingSeal {
 public:
  LockSeal(const Store& store, const GateName& gate, const LockOptions& options = {});

  [[nodiscard]] Outcome<Admission> try_acquire_shared(const Visitor& who = {}) const;

  // Reader to writer and back, in one step, without letting go; also a renewal, and fails like one.
  // Promotion is refused while there are other readers; two that wait for each other wait in vain,
  // so give up or release.
  [[nodiscard]] Outcome<Admission> try_promote(const Token& token) const;
  Admission demote(const Token& token) const;
};

}  // namespace airlock

#pragma once

#include <cstdint>
#include <vector>

#include "airlock/export.hpp"
#include "airlock/joint_seal.hpp"

namespace airlock {

// Gates of one group and one store, decided in ONE STEP: all of them or none, and nobody sees one
// taken without the others.
//
//   GroupSeal copy({SemaphoreSeal(store, "disk/read", {.limit = 4}),
//                   LockSeal(store, "disk/write")});
//   if (auto held = copy.try_acquire()) {
//     ...
//     copy.release(*held);
//   }
class AIRLOCK_EXPORT GroupSeal : public JointSeal {
 public:
  // InvalidArgument unless all have the same store and the same group, and no gate comes twice.
  explicit GroupSeal(std::vector<Seal> parts);

  // `cost` is what the tiers are charged, each of them.
  [[nodiscard]] Outcome<Admissions> try_acquire(std::uint32_t cost = 1,
                                                const Visitor& who = {}) const;
};

}  // namespace airlock

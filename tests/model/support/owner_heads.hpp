#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "model/owner_lists.hpp"
#include "model/support/operation.hpp"

namespace airlock::trial {

// The processes of a trial: owners 1 and 2, each with the head of its list.
class OwnerHeads {
 public:
  [[nodiscard]] model::OwnerLists lists() noexcept {
    return {reinterpret_cast<std::byte*>(heads.data()), sizeof(heads[0]), count_, 2};
  }

  std::array<std::uint32_t, 2> heads = {};

 private:
  std::atomic<std::uint32_t> count_ = 2;
};

inline model::Owner owner_of(const Operation& operation, std::uint32_t incarnation = 1) {
  return model::make_owner(static_cast<std::uint32_t>(operation.owner - 1), incarnation);
}

}  // namespace airlock::trial

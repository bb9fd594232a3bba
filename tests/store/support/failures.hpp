#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "airlock/error.hpp"
#include "airlock/store.hpp"

namespace airlock::testing {

[[nodiscard]] inline Request asks(const GateName& gate, const VisitorId& visitor,
                                  std::uint32_t limit = 1) {
  return {.gate = gate, .visitor = visitor, .permits = Permits{.limit = limit}};
}

// The StoreError of a step.
template <typename Step>
[[nodiscard]] std::optional<StoreError> failure_of(const Step& step) {
  try {
    step();
  } catch (const StoreError& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return std::nullopt;
}

}  // namespace airlock::testing

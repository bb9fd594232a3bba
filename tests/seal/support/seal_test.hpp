#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "airlock/seal.hpp"
#include "airlock/testing.hpp"
#include "contract/support/store_contract.hpp"

namespace airlock::seals {

using namespace std::chrono_literals;
using contract::all_stores;
using contract::StoreFactory;
using contract::Where;

// A store that fails when told to and whose time the test steps.
class Bench {
 public:
  explicit Bench(const StoreFactory& factory)
      : under_test_(factory.make()), store_(airlock::testing::FaultyStore(under_test_->store())) {}

  [[nodiscard]] const airlock::testing::FaultyStore& store() { return store_; }
  void after(Duration duration) { under_test_->advance(duration); }
  void wall_jumps(Duration by) { under_test_->jump_wall(by); }

  void until_multiple_of(Duration period) {
    const Duration past = under_test_->now() % period;
    if (past > Duration(0)) after(period - past);
  }

 private:
  std::unique_ptr<contract::StoreUnderTest> under_test_;
  airlock::testing::FaultyStore store_;
};

// Granted, else a failure at the caller's line and something empty.
template <typename T>
T granted(const Outcome<T>& outcome, Where where = Where()) {
  if (outcome) return *outcome;
  ADD_FAILURE_AT(where.file, where.line)
      << "refused: " << to_text(outcome.error().reason) << ", retry after "
      << to_text(outcome.error().retry_after);
  if constexpr (std::is_same_v<T, Admission>) return {{.token = {.gate = "none"}}};
  if constexpr (std::is_same_v<T, Granted>) return {.token = {.gate = "none"}};
  if constexpr (std::is_default_constructible_v<T>) return {};
}

// Refused for this reason, else a failure at the caller's line.
template <typename T>
Refused refused(const Outcome<T>& outcome, Reason reason, Where where = Where()) {
  if (!outcome && outcome.error().reason == reason) return outcome.error();
  ADD_FAILURE_AT(where.file, where.line) << (outcome ? "granted" : to_text(outcome.error().reason))
                                         << " instead of refused: " << to_text(reason);
  return {};
}

// What the step throws, if it throws just that.
template <typename Thrown, typename Step>
std::optional<Thrown> thrown_by(const Step& step, Where where = Where()) {
  try {
    step();
    ADD_FAILURE_AT(where.file, where.line) << "nothing was thrown";
  } catch (const Thrown& thrown) {
    return thrown;
  } catch (const std::exception& other) {
    ADD_FAILURE_AT(where.file, where.line) << "something else was thrown: " << other.what();
  }
  return std::nullopt;
}

// The StoreError that an exception of this type carries.
template <typename Thrown, typename Step>
std::optional<StoreError> cause_of(const Step& step, Where where = Where()) {
  try {
    step();
    ADD_FAILURE_AT(where.file, where.line) << "nothing was thrown";
  } catch (const Thrown& thrown) {
    try {
      std::rethrow_if_nested(thrown);
      ADD_FAILURE_AT(where.file, where.line) << "no cause: " << thrown.what();
    } catch (const StoreError& cause) {
      return cause;
    }
  }
  return std::nullopt;
}

inline Visitor named(std::string_view name) { return {VisitorId::named(name), name}; }

inline std::vector<std::string> holders(const Store& store, const GateName& gate) {
  std::vector<std::string> labels;
  if (const auto view = store.look(gate)) {
    for (const auto& holder : view->holders) labels.push_back(holder.label);
  }
  return labels;
}

// What is left of a rate at a gate.
inline std::uint32_t remaining(const Store& store, const GateName& gate, const Rate& rate) {
  if (const auto view = store.look(gate)) {
    for (const auto& tier : view->rates)
      if (tier.rate == rate) return tier.info.remaining;
  }
  return rate.count;
}

class SealTest : public ::testing::TestWithParam<StoreFactory> {
 protected:
  [[nodiscard]] const airlock::testing::FaultyStore& store() { return bench_.store(); }
  void after(Duration duration) { bench_.after(duration); }
  [[nodiscard]] Bench& bench() { return bench_; }
  [[nodiscard]] std::vector<std::string> holders(const GateName& gate) {
    return seals::holders(store(), gate);
  }
  [[nodiscard]] std::uint32_t remaining(const GateName& gate, const Rate& rate) {
    return seals::remaining(store(), gate, rate);
  }

 private:
  Bench bench_{GetParam()};
};

}  // namespace airlock::seals

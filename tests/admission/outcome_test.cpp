#include "airlock/outcome.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>

#include "airlock/airlock_gate.hpp"

namespace airlock {
namespace {

using Owner = std::unique_ptr<int>;  // Move-only, as a Lease is.

Outcome<Owner> owner() { return std::make_unique<int>(7); }
Outcome<Owner> refusal() { return Refused{.reason = Reason::paused}; }

TEST(OutcomeTest, ValueIsReadOrMovedOut) {
  Outcome<Owner> outcome = owner();
  EXPECT_EQ(*outcome.value(), 7);
  EXPECT_EQ(*std::as_const(outcome).value(), 7);
  const Owner moved = std::move(outcome).value();
  EXPECT_EQ(*moved, 7);
  static_assert(std::is_same_v<decltype(outcome.value()), Owner&>);
  static_assert(std::is_same_v<decltype(std::as_const(outcome).value()), const Owner&>);
  static_assert(std::is_same_v<decltype(owner().value()), Owner&&>);
}

TEST(OutcomeTest, ValueOrMovesWhereItCannotCopy) {
  EXPECT_EQ(*owner().value_or(nullptr), 7);
  EXPECT_EQ(refusal().value_or(nullptr), nullptr);
  Outcome<Lease> no_lease = Refused{};
  EXPECT_FALSE(std::move(no_lease).value_or(Lease()));
  const Outcome<std::string> text = std::string("text");
  EXPECT_EQ(text.value_or("other"), "text");
  EXPECT_EQ(Outcome<std::string>(Refused{}).value_or("other"), "other");
}

TEST(OutcomeTest, ValueOfARefusalThrowsTheRefusal) {
  const auto reason_of = [](auto read) {
    try {
      read();
    } catch (const BadOutcomeAccess& error) {
      EXPECT_NE(std::string(error.what()).find("paused"), std::string::npos);
      return error.error().reason;
    }
    return Reason::full;
  };
  Outcome<Owner> refused = refusal();
  EXPECT_EQ(reason_of([&] { (void)refused.value(); }), Reason::paused);
  EXPECT_EQ(reason_of([&] { (void)std::as_const(refused).value(); }), Reason::paused);
  EXPECT_EQ(reason_of([&] { (void)refusal().value(); }), Reason::paused);
  const Outcome<void> nothing = Refused{.reason = Reason::paused};
  EXPECT_EQ(reason_of([&] { nothing.value(); }), Reason::paused);
  EXPECT_NO_THROW(Outcome<void>().value());
}

}  // namespace
}  // namespace airlock

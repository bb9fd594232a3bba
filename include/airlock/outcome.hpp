#pragma once

#include <utility>
#include <variant>

#include "airlock/answer.hpp"
#include "airlock/error.hpp"
#include "airlock/export.hpp"

namespace airlock {

// Thrown by Outcome::value() where there is a refusal instead, as std::bad_expected_access.
class AIRLOCK_EXPORT BadOutcomeAccess : public Error {
 public:
  explicit BadOutcomeAccess(const Refused& refused);
  ~BadOutcomeAccess() override;

  [[nodiscard]] const Refused& error() const noexcept { return refused_; }

 private:
  Refused refused_;
};

// A value, or the refusal in its place. The names are those of std::expected.
//
//   if (auto page = erp.try_call(fetch)) use(*page);
//   else retry_in(page.error().retry_after);
//
// `*`, `->` and error() of the side that is absent are undefined, as in std::expected; value() is
// checked and throws BadOutcomeAccess.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  using value_type = T;
  using error_type = Refused;

  // NOLINTBEGIN(google-explicit-constructor): either side is returned as it is
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Refused refused) : state_(std::in_place_index<1>, refused) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] T* operator->() noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  [[nodiscard]] T& value() & { return checked(), **this; }
  [[nodiscard]] const T& value() const& { return checked(), **this; }
  [[nodiscard]] T&& value() && { return checked(), *std::move(*this); }
  template <typename U>
  [[nodiscard]] T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }
  template <typename U>
  [[nodiscard]] T value_or(U&& other) && {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
  }

  [[nodiscard]] const Refused& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  void checked() const {
    if (!has_value()) throw BadOutcomeAccess(error());
  }

  std::variant<T, Refused> state_;
};

// Done, or the refusal.
template <>
class [[nodiscard]] Outcome<void> {
 public:
  using value_type = void;
  using error_type = Refused;

  Outcome() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a refusal is returned as it is
  Outcome(Refused refused) : refused_(std::in_place_index<1>, refused) {}

  [[nodiscard]] bool has_value() const noexcept { return refused_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const {
    if (!has_value()) throw BadOutcomeAccess(error());
  }
  [[nodiscard]] const Refused& error() const noexcept { return *std::get_if<1>(&refused_); }

 private:
  std::variant<std::monostate, Refused> refused_;
};

}  // namespace airlock

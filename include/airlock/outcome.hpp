#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/error.hpp"
#include "airlock/rate.hpp"
#include "airlock/token.hpp"
#include "airlock/version.hpp"

namespace airlock {

// A holder of weight 1 has a slot number below its limit that no other such holder has.
using Slot = std::optional<std::uint32_t>;

struct Granted {
  Token token;
  Duration expires_in{0};  // Remaining time in the store; 0 for a rate-only admission.
  Slot slot = {};
  bool repeated = false;    // This visitor was already holding; nothing was renewed or charged.
  std::uint32_t taken = 0;  // Of the rate's cost.
  Duration delay{0};        // reserve: act after this.
  RateInfo rate = {};
};

struct Queued {
  std::uint32_t position = 0;  // 1: next to be served (arrival rank in a lottery).
  std::uint32_t waiting = 0;   // The length of the line.
  Duration next_check{0};      // When to ask again if nobody calls before.
  Duration eta{0};             // position * mean interval between grants; 0: not known.
  RateInfo rate = {};
};

enum class Reason : std::uint8_t {
  full,       // No room, or others wait for it.
  rate,       // A tier said no.
  paused,     // An operator or a health check closed the gate.
  line_full,  // max_waiting.
  late,       // The expected wait is longer than max_eta, a deadline passed, or it is not here.
  never,      // The cost is above the burst.
};
inline constexpr std::size_t kReasons = 6;

[[nodiscard]] constexpr const char* to_text(Reason reason) noexcept {
  constexpr const char* kTexts[kReasons] = {"full", "rate", "paused", "line_full", "late", "never"};
  return kTexts[static_cast<std::size_t>(reason)];
}

struct Refused {
  Reason reason = Reason::full;
  Duration retry_after{0};  // Asking before is pointless; rounded up; kForever for never.
  RateInfo rate = {};
  Duration waited{0};  // How long the caller was kept, where it was.
  std::size_t at = 0;  // Which of several gates said so.
};

using Answer = std::variant<Granted, Queued, Refused>;

// The answer to several gates of one group: all granted, or the first that said no.
struct GroupAnswer {
  std::vector<Granted> granted = {};  // As the requests were; empty unless all were granted.
  std::size_t at = 0;                 // Otherwise: which request was not,
  std::variant<std::monostate, Queued, Refused> because = {};  // and why.

  explicit operator bool() const noexcept { return because.index() == 0; }
};

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

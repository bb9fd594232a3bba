#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "airlock/duration.hpp"
#include "airlock/outcome.hpp"
#include "airlock/version.hpp"

namespace airlock {

// What an object has to tell.
struct Event {
  enum class Kind : std::uint8_t {
    granted,         // In, after `waited`.
    queued,          // Told to wait, once per entry; `position` in the line.
    refused,         // For `reason`, after `waited`.
    let_past,        // The store failed and the outage policy let it in unguarded.
    failed,          // The store failed and the call with it.
    release_failed,  // Giving back after a call failed; its value or exception is kept.
    lost,            // A lease is gone, or can no longer be proven, while somebody has it.
  };

  Kind kind;
  std::string_view gate;
  Duration waited{0};
  Reason reason = Reason::full;
  std::uint32_t position = 0;
};

[[nodiscard]] constexpr const char* to_text(Event::Kind kind) noexcept {
  constexpr const char* kTexts[] = {"granted", "queued",         "refused", "let_past",
                                    "failed",  "release_failed", "lost"};
  return kTexts[static_cast<std::uint8_t>(kind)];
}

// Hears what an object decides. Called in the deciding thread right after the decision, under no
// lock; `lost` comes from a thread of its own, `airlock-alarm`. What it throws is counted and
// swallowed: nothing leaks and nothing is undone.
class AIRLOCK_EXPORT Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer();

  virtual void on(const Event& event) = 0;
};

// Who hears, as options take it: an Observer that is shared, or any callable.
//
//   .observer = [](const Event& event) { log(event.gate, to_text(event.kind)); }
class AnyObserver {
 public:
  // NOLINTBEGIN(google-explicit-constructor): an observer is what it is
  AnyObserver() noexcept = default;
  template <std::derived_from<Observer> Own>
  AnyObserver(std::shared_ptr<Own> observer) noexcept : observer_(std::move(observer)) {}
  template <std::invocable<const Event&> Callable>
  AnyObserver(Callable callable)
      : observer_(std::make_shared<Calls<Callable>>(std::move(callable))) {}
  // NOLINTEND(google-explicit-constructor)

  explicit operator bool() const noexcept { return observer_ != nullptr; }
  [[nodiscard]] Observer& operator*() const noexcept { return *observer_; }

 private:
  template <typename Callable>
  struct Calls final : Observer {
    explicit Calls(Callable own) : callable(std::move(own)) {}
    void on(const Event& event) override { callable(event); }
    Callable callable;
  };

  std::shared_ptr<Observer> observer_;
};

// How many observers of this process have thrown.
[[nodiscard]] AIRLOCK_EXPORT std::uint64_t observer_failures() noexcept;

}  // namespace airlock

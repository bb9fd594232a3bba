#pragma once

#include <cstdint>
#include <string_view>

#include "airlock/answer.hpp"
#include "airlock/duration.hpp"
#include "airlock/export.hpp"

namespace airlock {

// What an object has to tell.
struct Event {
  enum class Kind : std::uint8_t {
    accepted,        // In, after `waited`.
    queued,          // Told to wait, once per entry; `position` in the line.
    rejected,        // Refused for `reason`, after `waited`.
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

// How many observers of this process have thrown.
[[nodiscard]] AIRLOCK_EXPORT std::uint64_t observer_failures() noexcept;

}  // namespace airlock

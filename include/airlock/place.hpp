#pragma once

#include <cstdint>
#include <memory>

#include "airlock/ask.hpp"
#include "airlock/export.hpp"
#include "airlock/lease.hpp"
#include "airlock/name.hpp"
#include "airlock/outcome.hpp"

namespace airlock {

class Airlock;
class EventIsolation;
namespace keeping {
class Entrance;
}

// A place in the line of an airlock, or already the admission. Looked after in the background: it
// does not lose its turn before wait() is called. When it goes out of scope it leaves, or gives
// back, in the background too. In a forked child it is the parent's, and refused.
//
//   Place place = airlock.join();        // Here, in order of arrival,
//   pool.post([place = std::move(place)]() mutable {
//     Outcome<Lease> lease = place.wait();   // there, whenever it is its turn.
//   });
class AIRLOCK_EXPORT Place {
 public:
  Place(Place&& other) noexcept;
  Place& operator=(Place&& other) noexcept;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place();

  // Waits as long as the Ask of join() said, counted from there. The second time, and after
  // leave(), it is refused as late.
  Outcome<Lease> wait();

  // 1: next, as of the last time it was asked. 0: not in the line.
  [[nodiscard]] std::uint32_t position() const noexcept;

  // The expected wait, as of then: people ahead times the mean interval between grants. 0: not
  // known, or not in the line.
  [[nodiscard]] Duration eta() const noexcept;

  void leave() noexcept;

 private:
  friend class Airlock;
  friend class EventIsolation;
  struct State;
  Place(const std::shared_ptr<keeping::Entrance>& entrance, const GateName& gate, const Ask& ask);

  std::shared_ptr<State> state_;
};

}  // namespace airlock

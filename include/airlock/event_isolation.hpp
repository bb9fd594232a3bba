#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "airlock/duration.hpp"
#include "airlock/error.hpp"
#include "airlock/export.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "airlock/outage.hpp"
#include "airlock/place.hpp"
#include "airlock/store.hpp"

namespace airlock {

// Whose events must not be handled at the same time: a user's in a chat, by default.
struct StorageKey {
  std::int64_t bot = 0;
  std::int64_t chat = 0;
  std::int64_t user = 0;
  std::optional<std::int64_t> thread = {};
  std::optional<std::string> business_connection = {};
  std::string destiny = "default";

  [[nodiscard]] StorageKey with_destiny(std::string other) const {
    StorageKey key = *this;
    key.destiny = std::move(other);
    return key;
  }
};

// What of a key tells apart. Different values of what it uses give different texts, whatever bytes
// they have.
struct KeyBuilder {
  std::string prefix = "fsm";
  std::string separator = ":";
  bool with_bot = false;
  bool with_business_connection = false;
  bool with_destiny = false;  // Another destiny than "default" is told apart always.

  [[nodiscard]] AIRLOCK_EXPORT std::string build(const StorageKey& key) const;
};

struct EventIsolationOptions {
  Duration ttl = std::chrono::seconds(60);
  std::optional<Duration> acquire_timeout = {};  // Twice the ttl. 0: one attempt.
  KeyBuilder keys = {};
  Duration max_hold = kForever;             // A hung handler keeps its key no longer than this.
  Outage outage = Outage::closed;           // local: isolated within this process, unguarded.
  std::shared_ptr<Observer> observer = {};  // Hears of gates: gate_name("events", key).
};

// The key was not free in time.
class AIRLOCK_EXPORT EventIsolationTimeout : public Error {
 public:
  using Error::Error;
  ~EventIsolationTimeout() override;
};

// Handlers of the same key run one after the other, in order of arrival; those of different keys
// side by side. Keys that nobody uses cost nothing.
//
//   EventIsolation isolation{store};
//   Lease lease = isolation.lock({.bot = 1, .chat = 2, .user = 3});   // held while handling
//
// One poller and a pool of workers: join() takes the place in the poller, wait() in the worker.
//
// A simple one, for one process, is EventIsolation{open_store("memory:")}. A default-constructed
// one is disabled and never waits.
class AIRLOCK_EXPORT EventIsolation {
 public:
  EventIsolation() noexcept = default;
  explicit EventIsolation(std::shared_ptr<Store> store, EventIsolationOptions options = {});
  EventIsolation(const EventIsolation&);
  EventIsolation& operator=(const EventIsolation&);
  ~EventIsolation();

  [[nodiscard]] bool is_enabled() const noexcept { return entrance_ != nullptr; }

  // Waits for the key; EventIsolationTimeout names it and the timeout. Empty where disabled.
  [[nodiscard]] Lease lock(const StorageKey& key) const;

  // A turn that is taken here and waited for elsewhere; gives up its place when it is dropped.
  class Turn;
  [[nodiscard]] Turn join(const StorageKey& key) const;

  // Nothing of its own to close: the store belongs to whoever opened it. Leases stay valid.
  void close() const noexcept {}

 private:
  std::shared_ptr<keeping::Entrance> entrance_;
  EventIsolationOptions options_;
};

class AIRLOCK_EXPORT EventIsolation::Turn {
 public:
  [[nodiscard]] Lease wait();  // As lock(). Once.

 private:
  friend class EventIsolation;
  Turn() = default;

  std::optional<Place> place_;
  std::string key_;
  Duration timeout_{0};
};

}  // namespace airlock

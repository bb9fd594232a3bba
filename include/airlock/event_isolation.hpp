#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "airlock/airlock_gate.hpp"
#include "airlock/duration.hpp"
#include "airlock/error.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "airlock/outage.hpp"
#include "airlock/outcome.hpp"
#include "airlock/store.hpp"
#include "airlock/version.hpp"

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

// Makes the bytes of a key: what of it tells apart. Different values of what it uses give different texts, whatever bytes
// they have.
struct KeyBuilder {
  std::string prefix = "fsm";
  std::string separator = ":";
  bool with_bot = false;
  bool with_business_connection = false;
  bool with_destiny = false;  // Another destiny than "default" is told apart always.

  // InvalidArgument for an empty separator.
  [[nodiscard]] AIRLOCK_EXPORT std::string operator()(const StorageKey& key) const;
};

struct EventIsolationOptions {
  AnyDuration ttl = std::chrono::seconds(60);
  std::optional<AnyDuration> max_wait = {};  // Twice the ttl. 0: one attempt.
  AnyDuration max_hold = kForever;           // A hung handler keeps its key no longer than this.
  std::function<std::string(const StorageKey&)> key_builder = KeyBuilder{};
  Outage outage = Outage::closed;  // local: isolated within this process, unguarded.
  AnyObserver observer = {};       // Hears of gates: gate_name("events", key).
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
//   Lease lease = isolation.lock(order_id);                           // held while handling
//   Lease other = isolation.lock(StorageKey{.bot = 1, .chat = 2, .user = 3});
//
// Any bytes are a key; a StorageKey becomes one by the key builder, which may be any function.
//
// One poller and a pool of workers: join() takes the place in the poller, wait() in the worker.
//
// A simple one, for one process, is EventIsolation{open_store("memory:")}. A default-constructed
// one is disabled and never waits.
class AIRLOCK_EXPORT EventIsolation {
 public:
  EventIsolation() noexcept = default;
  explicit EventIsolation(const Store& store, EventIsolationOptions options = {});
  EventIsolation(const EventIsolation&);
  EventIsolation& operator=(const EventIsolation&);
  ~EventIsolation();

  [[nodiscard]] bool is_enabled() const noexcept { return client_ != nullptr; }

  // Waits for the key; EventIsolationTimeout names it and how long. Empty where disabled, as below.
  [[nodiscard]] Lease lock(std::string_view key) const;
  [[nodiscard]] Lease lock(const StorageKey& key) const { return lock(built(key)); }

  [[nodiscard]] Outcome<Lease> try_lock(std::string_view key) const;
  [[nodiscard]] Outcome<Lease> try_lock(const StorageKey& key) const {
    return try_lock(built(key));
  }
  [[nodiscard]] Outcome<Lease> try_lock_for(std::string_view key, AnyDuration max_wait) const;
  [[nodiscard]] Outcome<Lease> try_lock_for(const StorageKey& key, AnyDuration max_wait) const {
    return try_lock_for(built(key), max_wait);
  }

  // A turn that is taken here and waited for elsewhere; gives up its place when it is dropped.
  class Turn;
  [[nodiscard]] Turn join(std::string_view key) const;
  [[nodiscard]] Turn join(const StorageKey& key) const;

  // Nothing of its own to close: the store belongs to whoever opened it. Leases stay valid.
  void close() const noexcept {}

 private:
  [[nodiscard]] std::string built(const StorageKey& key) const;

  std::shared_ptr<internal::AdmissionClient> client_;
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

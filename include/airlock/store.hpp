#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/look.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "airlock/token.hpp"
#include "airlock/version.hpp"

namespace airlock {

// What Store::examine() found, in an operator's words.
struct Finding {
  enum class Level : std::uint8_t {
    good,
    warning,  // It works; under load, or when something fails, it may not.
    problem,  // Something does not work, or promises are not kept.
  };

  Level level = Level::good;
  std::string what;         // "maxmemory-policy is allkeys-lru"
  std::string remedy = {};  // What to do about it; empty where nothing is to be done.
};

[[nodiscard]] constexpr const char* to_text(Finding::Level level) noexcept {
  constexpr const char* kTexts[] = {"good", "warning", "problem"};
  return kTexts[static_cast<std::uint8_t>(level)];
}

namespace internal {
class Backend;
struct Handle;
}  // namespace internal

enum class Renewal : std::uint8_t {
  renewed,
  revoked,  // An operator took it back; it ends when its grace does.
  no_room,  // The asked weight does not fit; nothing changed.
  gone,
  unknown,  // The store did not answer for it.
};

// One question of many: the answer, or what admit() would have thrown.
struct AdmitItem {
  Request request;
  std::optional<Answer> answer = {};
  std::exception_ptr failure = {};
};

// One lease of a renewal, and what became of it.
struct RenewItem {
  Token token;
  Duration ttl{0};                           // From now.
  std::optional<std::uint32_t> weight = {};  // Changes it in the same step: reader to writer.
  Renewal result = Renewal::unknown;
};

enum class Revoke : std::uint8_t { graceful, now };

// Where admission state lives and whose clock decides: a handle, cheap to copy, that keeps the store
// open.
//
//   Store store = open_store("shm:");
//   Bulkhead erp{store, "legacy-erp", {.limit = 10}};
//   store.pause("legacy-erp", 30s);
//
// Every step is atomic and the same in every store; docs/concepts.md has the laws and the contract
// suite tests them. Safe to use from any thread, also after fork(). Steps throw InvalidArgument
// before anything happens (also when the handle is empty), or StoreError; they return within the
// store's timeout.
class AIRLOCK_EXPORT Store {
 public:
  Store() noexcept = default;  // Empty.

  explicit operator bool() const noexcept { return backend_ != nullptr; }
  friend bool operator==(const Store&, const Store&) noexcept = default;  // The same open store.

  [[nodiscard]] StoreId id() const;  // What tokens carry.

  // --- What seals, airlocks and bulkheads are made of ---

  // The question. Idempotent by visitor: holding -> Granted, repeated; handed over -> this is the
  // claim; waiting -> Queued, place kept, patience restarted.
  [[nodiscard]] Answer admit(const Request& request) const;

  // The same for many visitors, a step for each: in this order where they ask at one gate, and in few
  // round trips where a network is in between. What fails hinders no other.
  void admit_each(std::span<AdmitItem> items) const;

  // The same for several gates of one group and one visitor: all or nothing, in one step.
  [[nodiscard]] GroupAnswer admit_all(std::span<const Request> requests) const;

  // Gives up a place in the line or an unclaimed hand-over. False if there was none.
  bool leave(const GateName& gate, const VisitorId& visitor) const;

  // The visitor does not listen at the moment, for example because its page was closed: the line passes
  // it over until it asks again, and what it was handed and has not claimed goes to the next. Its place
  // is kept for as long as its patience lasts. False if it has none.
  bool mark_absent(const GateName& gate, const VisitorId& visitor) const;

  // Gives back what the rates of `request` charged, as far as the tiers still remember it.
  void refund(const Request& request) const;

  // Extends leases from now. An expired lease is gone even if nobody took its place. If it throws,
  // some may have a result: a store may have several servers, and one of them be down.
  void renew(std::span<RenewItem> items) const;
  Renewal renew(const Token& token, Duration ttl) const;

  // Gives back. False: it was already gone, and nothing changed.
  bool release(const Token& token) const;

  // Bound -> detached: the lease outlives this process. False: gone.
  bool disown(const Token& token) const;

  // Detached -> bound to this process. Empty: gone. Lease::adopt() renews it, too.
  [[nodiscard]] std::optional<Granted> adopt(const Token& token) const;

  // Whether the lease has not ended, however full its gate is.
  [[nodiscard]] bool holds(const Token& token) const;

  // Calls `changed` once, from any thread and under no lock, when the state of this visitor may
  // have changed: handed over, revoked, purged, worth asking again. False: it may have changed
  // already; ask instead of waiting. One watch per visitor and gate; unwatch() returns when the
  // callback neither runs nor will run (unless called from it).
  [[nodiscard]] bool watch(const GateName& gate, const VisitorId& visitor,
                           std::function<void()> changed) const;
  void unwatch(const GateName& gate, const VisitorId& visitor) const;

  // --- For operators ---

  // Empty: the store knows nothing of the gate.
  [[nodiscard]] std::optional<GateView> look(const GateName& gate) const;
  [[nodiscard]] std::vector<GateCounts> counts(std::span<const GateName> gates) const;
  [[nodiscard]] std::vector<std::string> list() const;  // Sorted.

  // All gates that `include` says yes to, sorted by name, each in a step of its own. What cannot be
  // read of one hinders no other.
  [[nodiscard]] std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) const;
  [[nodiscard]] std::vector<GateSummary> survey() const;

  // Overrides every request's own limit until cleared (nullopt). Raising admits the line at once,
  // lowering drains.
  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) const;

  // Admits nobody for so long. Pauses of several reporters add up; resume() lifts that reporter's
  // only (empty: the operator's). Hand-overs made before may still be claimed; renew and release
  // always work.
  void pause(const GateName& gate, Duration duration, std::string_view reporter = {}) const;
  bool resume(const GateName& gate, std::string_view reporter = {}) const;

  // Tells the holder (every holder without `visitor`) to stop; the slot moves on release or after a
  // third of its ttl, with `now` at once. Says how many.
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor = {},
                     Revoke how = Revoke::graceful) const;

  // Forgets holders, line, rates, pauses and overrides of a gate; its fence goes on growing. False:
  // not known.
  bool purge(const GateName& gate) const;

  // Ends what has run out at gates that nobody asks for. Steps do it in passing; a quiet store may
  // be told to.
  void collect() const;

  // What an operator should know of it: where it is, how full, what to mend. Nothing to say: empty.
  [[nodiscard]] std::vector<Finding> examine() const;

  // --- How a process ends its work at a store: close(), drain(10s), flush(1s) ---

  // From now on airlocks, bulkheads and locks of this process at this store let nobody in: new calls
  // and those that wait end with a StoreError of kind closed. Leases are still kept and given back.
  void close() const;

  // Waits until this process holds no lease of the store. False: the time was up before. A duration
  // of 0 or less does not wait.
  [[nodiscard]] bool drain(Duration at_most) const;

  // Waits until everything that destructors gave back or left has reached the store. False: the time
  // was up.
  [[nodiscard]] bool flush(Duration at_most) const;

 protected:
  explicit Store(std::shared_ptr<internal::Backend> backend) noexcept;

 private:
  friend struct internal::Handle;

  std::shared_ptr<internal::Backend> backend_;
};

// Opens `memory:`, `shm:[name]` or `redis://...`; options follow as `?key=value&...`
// (docs/stores.md). Only parses: the store is reached on first use. InvalidArgument names what is
// wrong with the URI, never a password.
[[nodiscard]] AIRLOCK_EXPORT Store open_store(std::string_view uri);

}  // namespace airlock

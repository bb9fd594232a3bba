#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/answer.hpp"
#include "airlock/clock.hpp"
#include "airlock/error.hpp"
#include "airlock/export.hpp"
#include "airlock/finding.hpp"
#include "airlock/look.hpp"
#include "airlock/request.hpp"
#include "airlock/sleeper.hpp"
#include "airlock/token.hpp"

namespace airlock {

enum class Renewal : std::uint8_t {
  renewed,
  revoked,  // An operator took it back; it ends when its grace does.
  no_room,  // The asked weight does not fit; nothing changed.
  gone,
  unknown,  // The store did not answer for it.
};

// One lease of a renewal, and what became of it.
struct RenewItem {
  Token token;
  Duration ttl{0};                           // From now.
  std::optional<std::uint32_t> weight = {};  // Changes it in the same step: reader to writer.
  Renewal result = Renewal::unknown;
};

// One lease to be given back together with others.
struct ReleaseItem {
  Token token;            // Fence 0: whatever the visitor has at the gate, its place included.
  bool is_noted = false;  // release_soon() has noted it.
  bool is_over = false;   // Given back, or gone before.
};

// Where admission state lives and whose clock decides.
//
//   std::shared_ptr<Store> store = open_store("memory:");
//   Answer answer = store->admit(
//       {.gate = "erp", .visitor = VisitorId::random(), .permits = Permits{.limit = 10}});
//
// Every step is atomic and the same in every store; docs/concepts.md has the laws and the contract
// suite tests them. Safe to use from any thread, also after fork(). Steps throw InvalidArgument
// before anything happens, or StoreError; they return within the store's timeout.
class AIRLOCK_EXPORT Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store();

  // Whether its steps end at once: no network, no other process to wait for. A lease of another one
  // is given back in the background.
  [[nodiscard]] virtual bool is_local() const noexcept { return true; }

  [[nodiscard]] virtual StoreId id() = 0;
  [[nodiscard]] virtual Clock& clock() noexcept = 0;

  // The question. Idempotent by visitor: holding -> Granted, repeated; handed over -> this is the
  // claim; waiting -> Queued, place kept, patience restarted.
  [[nodiscard]] virtual Answer admit(const Request& request) = 0;

  // The same for several gates of one group and one visitor: all or nothing, in one step.
  [[nodiscard]] virtual GroupAnswer admit_all(std::span<const Request> requests) = 0;

  // Gives up a place in the line or an unclaimed hand-over. False if there was none.
  virtual bool leave(const GateName& gate, const VisitorId& visitor) = 0;

  // Gives back what the rates of `request` charged, as far as the tiers still remember it.
  virtual void refund(const Request& request) = 0;

  // Extends leases from now. An expired lease is gone even if nobody took its place. If it throws,
  // some may have a result: a store may have several servers, and one of them be down.
  virtual void renew(std::span<RenewItem> items) = 0;

  // The same for a caller that repeats what stays `unknown`: waits for at most so long, in all, for
  // parts of the store that are busy, and renews in the others first.
  virtual void renew_within(std::span<RenewItem> items, Duration at_most);

  // Gives back. False: it was already gone, and nothing changed.
  virtual bool release(const Token& token) = 0;

  // The same for many; what the store does not answer for is not over. A server of several that is
  // down delays nothing at the others. Throws nothing.
  virtual void release_all(std::span<ReleaseItem> items) noexcept;

  // Notes a lease (fence 0: as above) that is given back without waiting for the answer: every
  // later step of this process at its gate comes after the release. The caller continues with
  // release_all(); `by_next_step`: it does not, and the next step or the end of the store does it.
  // Pointless after `until`. False: not noted, which is so where steps are local.
  virtual bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept;

  // Bound -> detached: the lease outlives this process. False: gone.
  virtual bool disown(const Token& token) = 0;

  // Detached -> bound to this process. Empty: gone.
  [[nodiscard]] virtual std::optional<Granted> adopt(const Token& token) = 0;

  // Whether the lease has not ended, however full its gate is.
  [[nodiscard]] virtual bool holds(const Token& token) = 0;

  // Empty: the store knows nothing of the gate.
  [[nodiscard]] virtual std::optional<GateView> look(const GateName& gate) = 0;
  [[nodiscard]] virtual std::vector<GateCounts> counts(std::span<const GateName> gates) = 0;
  [[nodiscard]] virtual std::vector<std::string> list() = 0;  // Sorted.

  // All gates that `include` says yes to, sorted by name, each in a step of its own. What cannot be
  // read of one hinders no other.
  [[nodiscard]] virtual std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) = 0;
  [[nodiscard]] std::vector<GateSummary> survey();

  // Overrides every request's own limit until cleared (nullopt). Raising admits the line at once,
  // lowering drains.
  virtual void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) = 0;

  // Admits nobody for so long. Pauses of several reporters add up; resume() lifts that reporter's
  // only (empty: the operator's). Hand-overs made before may still be claimed; renew and release
  // always work.
  virtual void pause(const GateName& gate, Duration duration, std::string_view reporter) = 0;
  virtual bool resume(const GateName& gate, std::string_view reporter) = 0;

  // Tells the holder (every holder without `visitor`) to stop; the slot moves on release or after a
  // third of its ttl, with `now` at once. Says how many.
  enum class Revoke : std::uint8_t { graceful, now };
  virtual std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                             Revoke how) = 0;

  // Forgets holders, line, rates, pauses and overrides of a gate; its fence goes on growing. False:
  // not known.
  virtual bool purge(const GateName& gate) = 0;

  // Calls `changed` once, from any thread and under no lock, when the state of this visitor may
  // have changed: handed over, revoked, purged, worth asking again. False: it may have changed
  // already; ask instead of waiting. One watch per visitor and gate; unwatch() returns when the
  // callback neither runs nor will run (unless called from it).
  [[nodiscard]] virtual bool watch(const GateName& gate, const VisitorId& visitor,
                                   std::function<void()> changed) = 0;
  virtual void unwatch(const GateName& gate, const VisitorId& visitor) = 0;

  // Watches, and the calling thread sleeps until there is news, somebody wakes it, or the deadline.
  // Returns whether there is news. Ends the watch of this visitor that was there before; one that
  // outlives the call is ended by unwatch().
  [[nodiscard]] virtual bool await(const GateName& gate, const VisitorId& visitor,
                                   const std::shared_ptr<Sleeper>& sleeper, Instant deadline);

  // How often a waiter should ask although nobody called: at the head of the line, and behind it at
  // least, unless for ever; and how long after its turn should have come, first, where calls may be
  // lost.
  struct Recheck {
    Duration head = kForever;
    Duration others = kForever;
    Duration overdue = kForever;
  };
  [[nodiscard]] virtual Recheck recheck() const noexcept = 0;

  // Ends what has run out at gates that nobody asks for. Steps do it in passing; a quiet store may
  // be told to.
  virtual void collect() = 0;

  // What an operator should know of it: where it is, how full, what to mend. Nothing to say: empty.
  [[nodiscard]] virtual std::vector<Finding> examine();

  // Short forms of the above.
  Renewal renew(const Token& token, Duration ttl);
  void pause(const GateName& gate, Duration duration) { pause(gate, duration, {}); }
  bool resume(const GateName& gate) { return resume(gate, {}); }
};

// Opens `memory:`, `shm:[name]` or `redis://...`; options follow as `?key=value&...`
// (docs/stores.md). Only parses: the store is reached on first use. InvalidArgument names what is
// wrong with the URI, never a password.
[[nodiscard]] AIRLOCK_EXPORT std::shared_ptr<Store> open_store(std::string_view uri);

}  // namespace airlock

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "airlock/store.hpp"
#include "base/clock.hpp"
#include "store/sleeper.hpp"

namespace airlock::internal {

// One lease to be given back together with others.
struct ReleaseItem {
  Token token;            // Fence 0: whatever the visitor has at the gate, its place included.
  bool is_noted = false;  // release_soon() has noted it.
  bool is_over = false;   // Given back, or gone before.
};

// What a store implements; Store (store.hpp) is the handle that users have and says what the steps
// do. Here is what only the layers above need besides. Safe to use from any thread, also after
// fork(). Steps throw InvalidArgument before anything happens, or StoreError; they return within the
// store's timeout.
class AIRLOCK_EXPORT Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend();

  // Whether its steps end at once: no network, no other process to wait for. A lease of another one
  // is given back in the background.
  [[nodiscard]] virtual bool is_local() const noexcept { return true; }

  // How long a step may take at most, in the time of clock().
  [[nodiscard]] virtual Duration timeout() const noexcept { return kForever; }

  [[nodiscard]] virtual StoreId id() = 0;
  [[nodiscard]] virtual Clock& clock() noexcept = 0;
  [[nodiscard]] virtual Answer admit(const Request& request) = 0;
  virtual void admit_each(std::span<AdmitItem> items) noexcept;
  [[nodiscard]] virtual GroupAnswer admit_all(std::span<const Request> requests) = 0;
  virtual bool leave(const GateName& gate, const VisitorId& visitor) = 0;
  virtual bool mark_absent(const GateName& gate, const VisitorId& visitor) = 0;
  virtual void refund(const Request& request) = 0;
  virtual void renew(std::span<RenewItem> items) = 0;

  // As renew() for a caller that repeats what stays `unknown`: waits for at most so long, in all, for
  // parts of the store that are busy, and renews in the others first.
  virtual void renew_within(std::span<RenewItem> items, Duration at_most);
  virtual bool release(const Token& token) = 0;

  // As release() for many; what the store does not answer for is not over. A server of several that is
  // down delays nothing at the others. Throws nothing.
  virtual void release_all(std::span<ReleaseItem> items) noexcept;

  // Notes a lease (fence 0: as above) that is given back without waiting for the answer: every
  // later step of this process at its gate comes after the release. The caller continues with
  // release_all(); `by_next_step`: it does not, and the next step or the end of the store does it.
  // Pointless after `until`. False: not noted, which is so where steps are local.
  virtual bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept;
  virtual bool disown(const Token& token) = 0;
  [[nodiscard]] virtual std::optional<Granted> adopt(const Token& token) = 0;
  [[nodiscard]] virtual bool holds(const Token& token) = 0;
  [[nodiscard]] virtual std::optional<GateView> look(const GateName& gate) = 0;
  [[nodiscard]] virtual std::vector<GateCounts> counts(std::span<const GateName> gates) = 0;
  [[nodiscard]] virtual std::vector<std::string> list() = 0;  // Sorted.
  [[nodiscard]] virtual std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) = 0;

  virtual void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) = 0;
  virtual void pause(const GateName& gate, Duration duration, std::string_view reporter) = 0;
  virtual bool resume(const GateName& gate, std::string_view reporter) = 0;
  virtual std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                             Revoke how) = 0;
  virtual bool purge(const GateName& gate) = 0;
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
  struct RecheckIntervals {
    Duration head = kForever;
    Duration others = kForever;
    Duration overdue = kForever;
  };
  [[nodiscard]] virtual RecheckIntervals recheck_intervals() const noexcept = 0;
  virtual void collect() = 0;
  [[nodiscard]] virtual std::vector<Finding> examine();
};

// Between the handle and what is behind it.
struct Handle {
  [[nodiscard]] static const std::shared_ptr<Backend>& backend(const Store& store) {
    if (!store) throw_empty();
    return store.backend_;
  }
  [[nodiscard]] static Store to(std::shared_ptr<Backend> backend) noexcept {
    return Store(std::move(backend));
  }
  [[noreturn]] static AIRLOCK_EXPORT void throw_empty();
};

// InvalidArgument for an empty handle.
[[nodiscard]] inline const std::shared_ptr<Backend>& backend_of(const Store& store) {
  return Handle::backend(store);
}

}  // namespace airlock::internal

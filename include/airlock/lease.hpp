#pragma once

#include <memory>
#include <stop_token>

#include "airlock/duration.hpp"
#include "airlock/outcome.hpp"
#include "airlock/store.hpp"
#include "airlock/token.hpp"
#include "airlock/version.hpp"

namespace airlock {

namespace internal {
class Keeper;
struct Held;
}  // namespace internal

// Holds one admission and gives it back when it goes out of scope.
//
//   Lease lease = erp.acquire();
//   write_row(row, lease.fence());
//
// A keeper, one thread per store, renews it at a third of its ttl. `lost()` fires when it is gone
// or can no longer be proven; work that must not overlap stops there.
//
// Move-only; hand it to one thread at a time (valid() and lost() may be called from any). In a
// forked child it is empty. The destructor neither throws nor waits for the network, but whatever
// this process asks next at the gate comes after its release: call release() where the answer
// matters.
class AIRLOCK_EXPORT Lease {
 public:
  Lease() noexcept = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // Takes up a detached token, from its text or from another process, and renews it for `ttl` from
  // now on. LeaseExpiredError if it is gone; StoreError, and it stays detached. A ttl of 10 ms or
  // less is InvalidArgument: the lease would never be valid.
  static Lease adopt(const Store& store, const Token& token,
                     AnyDuration ttl = std::chrono::seconds(30));

  explicit operator bool() const noexcept;

  // Of an empty lease: InvalidArgument, and below 0, none, false and a token that never fires.
  [[nodiscard]] Token token() const;
  [[nodiscard]] Fence fence() const noexcept;
  [[nodiscard]] Slot slot() const noexcept;

  // False: an outage policy let it in, and nothing is guarded; the fence is 0.
  [[nodiscard]] bool guarded() const noexcept;

  // A clock read. Counted from before the request was sent, less a hundredth and at least 10 ms.
  // Once false it stays so, also after a suspension of the process.
  [[nodiscard]] bool valid() const noexcept;
  [[nodiscard]] Duration remaining() const noexcept;  // Until a renewal comes; 0: not valid.

  // Fires before the store gives the slot away when the store cannot be reached, at the next
  // renewal when that is refused, at once when an operator revokes it. Callbacks run on a thread of
  // their own, one after the other: keep them short. StoreError (no_room) if that thread cannot be
  // started; the lease is unaffected.
  [[nodiscard]] std::stop_token lost() const;

  // Gives back. SealReleasingError if it was already gone or the store failed; in that case it is
  // tried again in the background. On an empty lease, and so the second time, it does nothing.
  void release();

  // Makes the token outlive this process and forgets it: it now belongs to whoever has the text.
  // LeaseExpiredError if it is gone.
  [[nodiscard]] Token detach();

 private:
  friend class internal::Keeper;

  Lease(std::shared_ptr<internal::Keeper> keeper, internal::Held* held) noexcept;
  [[nodiscard]] bool is_own() const noexcept;
  void abandon() noexcept;
  void give_back() noexcept;

  std::shared_ptr<internal::Keeper> keeper_;
  internal::Held* held_ = nullptr;
};

}  // namespace airlock

#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "airlock/airlock_gate.hpp"
#include "airlock/ask.hpp"
#include "airlock/duration.hpp"
#include "airlock/lease.hpp"
#include "airlock/mailbox.hpp"
#include "airlock/outcome.hpp"

// Coroutines that wait at a gate, with whatever task type and scheduler the program has. The umbrella
// header does not include this one.
//
//   Outcome<Lease> lease = co_await async_enter(gate, mailbox);
//
//   Ask ask{.stop = stop};  // To be named: g++ 12 destroys a temporary in such an expression twice.
//   Outcome<Lease> lease = co_await async_enter(
//       gate, ask, [&](Resumption resume) { pool.post(std::move(resume)); });
//
// Where the store never blocks (memory:, shm:) it is asked first, and a coroutine that is in or
// refused at once continues without being suspended and without an allocation. Otherwise it is
// suspended and resumed where the last argument says:
//
//   a Mailbox    in Mailbox::run()
//   a function   it is called once, on the thread `airlock-enter`, and passes the Resumption to the
//                thread that shall continue the coroutine. It should be quick and must not throw:
//                then the coroutine is not resumed.
//
// `Ask::stop` ends the wait: refused as late. A coroutine that is destroyed while it is suspended
// leaves the line, a grant that arrives later is given back, and the function is not called any
// more. As with any coroutine, destroy it on the thread that resumes it, or where it cannot be
// resumed at the same time; not under a lock that the function takes.

namespace airlock {

class Resumption;

namespace internal {

// What the frame of a suspended coroutine shares with the callback and the Resumption.
class SuspendedEntry : public std::enable_shared_from_this<SuspendedEntry> {
 public:
  SuspendedEntry(std::coroutine_handle<> coroutine, std::function<void(Resumption)> resume)
      : coroutine_(coroutine.address()), resume_(std::move(resume)) {}
  SuspendedEntry(const SuspendedEntry&) = delete;
  SuspendedEntry& operator=(const SuspendedEntry&) = delete;
  ~SuspendedEntry() { give_back(); }

  void arrive(Arrival& arrival);
  void keep(PendingEntry entry) noexcept { entry_ = std::move(entry); }
  void resume() {
    void* const coroutine = coroutine_.exchange(nullptr);
    if (coroutine != nullptr) std::coroutine_handle<>::from_address(coroutine).resume();
  }
  [[nodiscard]] Outcome<Lease> take() {
    return std::unique_ptr<Arrival>(arrival_.exchange(nullptr))->take();
  }
  void give_back() noexcept { std::unique_ptr<Arrival>(arrival_.exchange(nullptr)).reset(); }

  // The frame is being destroyed.
  void abandon() noexcept {
    coroutine_ = nullptr;
    entry_ = {};  // From here on arrive() neither runs nor will run.
    give_back();
  }

 private:
  std::atomic<void*> coroutine_;
  std::atomic<Arrival*> arrival_ = nullptr;  // Owned by whoever takes it out.
  std::function<void(Resumption)> resume_;
  PendingEntry entry_;
};

// Owned by all copies of a Resumption.
struct ResumptionEnd {
  explicit ResumptionEnd(std::shared_ptr<SuspendedEntry> suspended) : entry(std::move(suspended)) {}
  ResumptionEnd(const ResumptionEnd&) = delete;
  ResumptionEnd& operator=(const ResumptionEnd&) = delete;
  ~ResumptionEnd() { entry->give_back(); }

  std::shared_ptr<SuspendedEntry> entry;
};

}  // namespace internal

// Continues a coroutine, on the thread that calls it. Copies are the same: only the first call counts,
// and none once the coroutine was destroyed. If the last copy goes without a call, the coroutine stays
// suspended and what it was granted is given back.
class Resumption {
 public:
  void operator()() const { end_->entry->resume(); }

 private:
  friend class internal::SuspendedEntry;
  explicit Resumption(std::shared_ptr<internal::SuspendedEntry> entry)
      : end_(std::make_shared<internal::ResumptionEnd>(std::move(entry))) {}

  std::shared_ptr<internal::ResumptionEnd> end_;
};

namespace internal {

inline void SuspendedEntry::arrive(Arrival& arrival) {
  arrival_ = std::make_unique<Arrival>(std::move(arrival)).release();
  resume_(Resumption(shared_from_this()));
}

// A Mailbox, or a function of a Resumption. It has a name, or needs no destructor, such as a lambda
// that captures references: see the end of this header.
template <typename Resume>
concept ResumesCoroutines =
    (std::is_lvalue_reference_v<Resume> || std::is_trivially_destructible_v<Resume>)&&(
        std::same_as<std::remove_cvref_t<Resume>, Mailbox> ||
        requires(Resume & resume, Resumption resumption) {
          { resume(std::move(resumption)) } -> std::same_as<void>;
        });

// What `co_await async_enter(...)` waits for. To be awaited in the expression that made it.
template <typename Resume>
class [[nodiscard]] EnterAwaiter {
 public:
  EnterAwaiter(const Airlock& gate, std::optional<AnyDuration> max_wait, Ask ask, Resume&& resume)
      : gate_(gate),
        max_wait_(max_wait),
        ask_(std::move(ask)),
        resume_(std::forward<Resume>(resume)) {}
  EnterAwaiter(const EnterAwaiter&) = delete;
  EnterAwaiter& operator=(const EnterAwaiter&) = delete;
  ~EnterAwaiter() {
    if (entry_) entry_->abandon();
  }

  [[nodiscard]] static bool await_ready() noexcept { return false; }

  // As soon as the callback is made the coroutine may be resumed elsewhere, and this be gone.
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> coroutine) {
    std::shared_ptr<SuspendedEntry> entry;
    const auto suspend = [&]() -> Airlock::Callback {
      entry_ = entry = std::make_shared<SuspendedEntry>(coroutine, resume_function());
      return [entry](Arrival& arrival) { entry->arrive(arrival); };
    };
    auto begun = gate_.begin_enter(max_wait_, ask_, std::ref(suspend));
    if (auto* decided = std::get_if<Outcome<Lease>>(&begun)) {
      decided_ = std::move(*decided);
      return false;
    }
    entry->keep(std::get<PendingEntry>(std::move(begun)));
    return true;
  }

  [[nodiscard]] Outcome<Lease> await_resume() {
    if (decided_) return *std::move(decided_);
    return std::exchange(entry_, nullptr)->take();
  }

 private:
  [[nodiscard]] std::function<void(Resumption)> resume_function() {
    if constexpr (std::same_as<std::remove_cvref_t<Resume>, Mailbox>) {
      return resume_.executor();
    } else {
      return std::forward<Resume>(resume_);
    }
  }

  const Airlock& gate_;
  std::optional<AnyDuration> max_wait_;
  Ask ask_;
  Resume resume_;
  std::optional<Outcome<Lease>> decided_;
  std::shared_ptr<SuspendedEntry> entry_;
};

}  // namespace internal

// Waits for its turn as Airlock::enter() does, for `max_wait` of the options or for the time given.
// `co_await` gives an Outcome<Lease>, or throws what enter() would throw.
template <internal::ResumesCoroutines Resume>
auto async_enter(const Airlock& gate, Resume&& resume) {
  return internal::EnterAwaiter<Resume>(gate, {}, {}, std::forward<Resume>(resume));
}
template <internal::ResumesCoroutines Resume>
auto async_enter(const Airlock& gate, const Ask& ask, Resume&& resume) {
  return internal::EnterAwaiter<Resume>(gate, {}, ask, std::forward<Resume>(resume));
}
template <internal::ResumesCoroutines Resume>
auto async_enter_for(const Airlock& gate, AnyDuration max_wait, Resume&& resume) {
  return internal::EnterAwaiter<Resume>(gate, max_wait, {}, std::forward<Resume>(resume));
}
template <internal::ResumesCoroutines Resume>
auto async_enter_for(const Airlock& gate, AnyDuration max_wait, const Ask& ask, Resume&& resume) {
  return internal::EnterAwaiter<Resume>(gate, max_wait, ask, std::forward<Resume>(resume));
}

// g++ 12 destroys a braced temporary in a co_await expression twice: give the Ask a name.
template <internal::ResumesCoroutines Resume>
auto async_enter(const Airlock& gate, Ask&& ask, Resume&& resume) = delete;
template <internal::ResumesCoroutines Resume>
auto async_enter_for(const Airlock& gate, AnyDuration max_wait, Ask&& ask,
                     Resume&& resume) = delete;

}  // namespace airlock

#include <condition_variable>
#include <optional>

#include "admission/admission_client.hpp"
#include "admission/async_entries.hpp"
#include "admission/mailbox_state.hpp"
#include "airlock/airlock_gate.hpp"
#include "base/fork.hpp"
#include "base/locks.hpp"

namespace airlock {

using internal::AdmissionClient;
using internal::AsyncEntries;

struct Place::State {
  base::StdMutex mutex;
  std::condition_variable changed;
  bool left AIRLOCK_GUARDED_BY(mutex) = false;
  std::optional<Arrival> arrival AIRLOCK_GUARDED_BY(mutex);
  std::shared_ptr<internal::Standing> standing = std::make_shared<internal::Standing>();
  internal::AsyncEntries::Ticket ticket;
  std::uint64_t generation = base::fork_generation();

  [[nodiscard]] bool is_own() const noexcept { return generation == base::fork_generation(); }
};

Place::Place(const std::shared_ptr<AdmissionClient>& client, const GateName& gate, const Ask& ask,
             Duration max_wait)
    : state_(std::make_shared<State>()) {
  state_->ticket = client->shared_keeper()->async_entries().start_or_deliver(
      {client, gate, ask, max_wait},
      [state = state_](Arrival arrival) {
        const base::LockGuard lock(state->mutex);
        if (!state->left) state->arrival.emplace(std::move(arrival));
        state->changed.notify_all();
      },
      state_->standing);
}

Place::Place(Place&& other) noexcept = default;

Place& Place::operator=(Place&& other) noexcept {
  if (state_) leave();
  state_ = std::move(other.state_);
  return *this;
}

Place::~Place() {
  if (state_) leave();
}

Outcome<Lease> Place::wait() {
  if (!state_->is_own()) return Refused{.reason = Reason::late};
  base::UniqueLock lock(state_->mutex);
  state_->changed.wait(
      lock, [&]() AIRLOCK_REQUIRES(state_->mutex) { return state_->left || state_->arrival; });
  if (state_->left) return Refused{.reason = Reason::late};
  state_->left = true;
  Arrival arrival = std::move(*state_->arrival);
  state_->arrival.reset();
  return arrival.take();
}

std::uint32_t Place::position() const noexcept {
  return state_->is_own() ? state_->standing->position.load() : 0;
}

Duration Place::eta() const noexcept {
  return state_->is_own() ? state_->standing->eta.load() : Duration(0);
}

void Place::leave() noexcept {
  if (!state_->is_own()) return;
  std::optional<Arrival> unused;  // Given back unlocked.
  {
    const base::LockGuard lock(state_->mutex);
    state_->left = true;
    std::swap(unused, state_->arrival);
  }
  state_->ticket.cancel();
}

Outcome<Lease> Arrival::take() {
  if (failure_) std::rethrow_exception(failure_);
  return std::move(*outcome_);
}

struct PendingEntry::State {
  explicit State(Airlock::Callback how) : callback(std::move(how)) {}

  void deliver(Arrival& arrival) {
    const std::lock_guard lock(mutex);
    const Airlock::Callback called = std::exchange(callback, nullptr);
    if (called) internal::swallow([&] { called(arrival); });
  }

  // Recursive: a callback may end its own entry.
  std::recursive_mutex mutex;
  Airlock::Callback callback;
  AsyncEntries::Ticket ticket;
  std::uint64_t generation = base::fork_generation();
};

PendingEntry::PendingEntry() noexcept = default;
PendingEntry::PendingEntry(PendingEntry&& other) noexcept = default;

PendingEntry& PendingEntry::operator=(PendingEntry&& other) noexcept {
  if (state_) end();
  state_ = std::move(other.state_);
  return *this;
}

PendingEntry::~PendingEntry() {
  if (state_) end();
}

void PendingEntry::end() noexcept {
  if (state_->generation != base::fork_generation()) return;
  Airlock::Callback unused;  // Destroyed unlocked.
  {
    const std::lock_guard lock(state_->mutex);
    unused.swap(state_->callback);
  }
  state_->ticket.cancel();
}

void PendingEntry::cancel() const noexcept {
  if (state_ && state_->generation == base::fork_generation()) state_->ticket.cancel();
}

Airlock::Airlock(const Store& store, const GateName& gate, const AirlockOptions& options)
    : client_(std::make_shared<AdmissionClient>(store, options)), gate_(gate) {}
Airlock::Airlock(const Airlock&) = default;
Airlock& Airlock::operator=(const Airlock&) = default;
Airlock::~Airlock() = default;

Outcome<Lease> Airlock::try_enter(const Ask& ask) const { return client_->try_enter(gate_, ask); }

Outcome<Lease> Airlock::try_enter_for(AnyDuration max_wait, const Ask& ask) const {
  return client_->enter(gate_, ask, max_wait);
}

Outcome<Lease> Airlock::enter(const Ask& ask) const { return client_->enter(gate_, ask); }

void Airlock::enter_async(const Ask& ask, Callback callback) const {
  enter_async_for(client_->options().max_wait, ask, std::move(callback));
}

void Airlock::enter_async(const Ask& ask, Callback callback, const Mailbox& mailbox) const {
  enter_async_for(client_->options().max_wait, ask, std::move(callback), mailbox);
}

void Airlock::enter_async_for(AnyDuration max_wait, const Ask& ask, Callback callback) const {
  client_->shared_keeper()->async_entries().start(
      {client_, gate_, ask, max_wait}, [callback = std::move(callback)](Arrival arrival) {
        internal::swallow([&] { callback(arrival); });
      });
}

void Airlock::enter_async_for(AnyDuration max_wait, const Ask& ask, Callback callback,
                              const Mailbox& mailbox) const {
  client_->shared_keeper()->async_entries().start(
      {client_, gate_, ask, max_wait},
      [callback = std::move(callback), box = mailbox.state_](Arrival arrival) {
        // Shared, because a std::function must be copyable and an arrival is not.
        box->post(
            [callback, held = std::make_shared<Arrival>(std::move(arrival))] { callback(*held); });
      });
}

std::variant<Outcome<Lease>, PendingEntry> Airlock::begin_enter(
    std::optional<AnyDuration> max_wait, const Ask& ask,
    const std::function<Callback()>& make_callback) const {
  const AsyncEntries::Entering entering{client_, gate_, ask,
                                        max_wait.value_or(client_->options().max_wait)};
  std::optional<internal::Attempt> asked;
  if (client_->store()->is_local()) {
    asked.emplace(*client_, gate_, ask, entering.max_wait);
    (void)asked->try_join();
    if (asked->is_decided()) return asked->take();
  }
  PendingEntry entry;
  entry.state_ = std::make_shared<PendingEntry::State>(make_callback());
  auto deliver = [state = entry.state_](Arrival arrival) { state->deliver(arrival); };
  AsyncEntries& entries = client_->shared_keeper()->async_entries();
  entry.state_->ticket = asked ? entries.go_on(entering, std::move(*asked), std::move(deliver))
                               : entries.start(entering, std::move(deliver));
  return entry;
}

Place Airlock::join(const Ask& ask) const {
  return {client_, gate_, ask, client_->options().max_wait};
}

Place Airlock::join_for(AnyDuration max_wait, const Ask& ask) const {
  return {client_, gate_, ask, max_wait};
}

// --- visitors with an id ---

Answer Airlock::admit(const VisitorId& visitor, const Ask& ask) const {
  return client_->admit(gate_, visitor, ask, AdmissionClient::AskKind::join);
}

Claim Airlock::claim(const VisitorId& visitor) const {
  const Answer answer = client_->admit(gate_, visitor, {}, AdmissionClient::AskKind::claim);
  if (const auto* granted = std::get_if<Granted>(&answer)) {
    return {.status = Claim::Status::claimed, .granted = *granted};
  }
  if (const auto* queued = std::get_if<Queued>(&answer)) {
    return {.status = Claim::Status::unavailable, .queued = *queued};
  }
  return {};
}

bool Airlock::leave(const VisitorId& visitor) const {
  return client_->store()->leave(gate_, visitor);
}

bool Airlock::mark_absent(const VisitorId& visitor) const {
  return client_->store()->mark_absent(gate_, visitor);
}

}  // namespace airlock

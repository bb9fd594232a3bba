#include "admission/keeper.hpp"

#include <algorithm>
#include <utility>

#include "admission/notify.hpp"
#include "airlock/error.hpp"
#include "base/fork.hpp"
#include "seal/steps.hpp"

namespace airlock::internal {
namespace {

constexpr Duration kCloseTimeout = std::chrono::seconds(1);

}  // namespace

Keeper::Keeper(std::shared_ptr<Backend> store)
    : store_(std::move(store)),
      servers_(dynamic_cast<Servers*>(store_.get())),
      generation_(base::fork_generation()),
      releases_(*store_, mutex_),
      release_("airlock-release", store_->clock(), [this] { send_releases(); }),
      alarm_("airlock-alarm", store_->clock(), [this] { sound_alarms(); }) {}

Keeper::~Keeper() {
  if (!is_own()) return;
  if (async_entries_) stop_async_entries();
  for (Lane& lane : lanes_) lane.worker.stop();
  release_.stop();
  alarm_.stop();
  releases_.flush(kCloseTimeout);
}

bool Keeper::is_own() const noexcept { return generation_ == base::fork_generation(); }

std::uint64_t Keeper::server_of(const GateName& gate) const noexcept try {
  return servers_ != nullptr ? servers_->server_of(gate) : 0;
} catch (const std::exception&) {
  return 0;
}

// One that nobody uses any more serves another server.
Lane& Keeper::lane_of(std::uint64_t server) {
  Lane* unused = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.server == server) return lane;
    if (lane.renewals.empty() && lane.renewing == 0) unused = &lane;
  }
  if (unused == nullptr) {
    unused = &lanes_.emplace_back("airlock-keep", clock(), [this](Lane& lane) { keep_all(lane); });
  }
  unused->server = server;
  return *unused;
}

// To the lane of the server that has its gate now; it stays where it is if no
// thread can be started there.
void Keeper::move(Held& held, std::uint64_t server) noexcept {
  if (held.lane->server == server) return;
  try {
    Lane& lane = lane_of(server);
    lane.worker.start();
    held.lane->renewals.clear(held);
    held.lane = &lane;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): as said
  }
}

Held* Keeper::new_held() {
  if (free_ == nullptr) return &all_.emplace_back();
  return std::exchange(free_, free_->next_free);
}

// Counts as soon as its timer is set, which is the last that can fail.
Keeper::Enlisted Keeper::enlist(const Granted& granted, Instant sent, const Terms& terms) {
  const bool lasts = granted.token.fence != 0;
  const Duration ttl = granted.expires_in;
  const std::uint64_t server = lasts ? server_of(granted.token.gate) : 0;
  const base::LockGuard lock(mutex_);
  Lane& lane = lane_of(server);
  Held& held = *new_held();
  held.lane = &lane;
  held.token = granted.token;
  held.slot = granted.slot;
  held.terms = terms;
  held.hold_end = saturating_add(sent, terms.max_hold);
  held.is_lost.store(false, std::memory_order_relaxed);
  held.is_ending.store(false, std::memory_order_relaxed);
  held.told = false;
  held.deadline.store(lasts ? seal::deadline(sent, ttl) : kForever, std::memory_order_relaxed);
  held.store_end = saturating_add(sent, ttl);
  held.serial = ++last_serial_;
  const bool needs_care = lasts && (held.is_renewable() || terms.observer);
  if (needs_care) lane.renewals.set(held, sent + held.renew_after(ttl));
  ++leases_;
  return {held, lane, needs_care};
}

Lease Keeper::keep(const Granted& granted, Instant sent, const Terms& terms) {
  const auto [held, lane, needs_care] = enlist(granted, sent, terms);
  try {
    if (needs_care) lane.worker.need(sent + held.renew_after(granted.expires_in));
  } catch (const StoreError&) {
    end(held);
    forget(&held);
    throw;
  }
  return Lease(shared_from_this(), &held);
}

void Keeper::forget(Held* held) noexcept {
  std::optional<std::stop_source> unused;  // Callbacks may own anything: destroyed unlocked.
  AnyObserver untold;
  mutex_.lock();
  held->lane->renewals.clear(*held);
  alarms_.clear(*held);
  held->serial = 0;
  if (std::exchange(held->watched, false)) {
    mutex_.unlock();
    unwatch(held->token);
    mutex_.lock();
  }
  std::swap(unused, held->lost);
  std::swap(untold, held->terms.observer);
  held->next_free = std::exchange(free_, held);
  --leases_;
  mutex_.unlock();
  awaiting_->tell();
}

void Keeper::unwatch(const Token& token) noexcept {
  try {
    store_->unwatch(token.gate, token.visitor);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): then nobody is told, which is meant
  }
}

// --- lost ---

std::stop_token Keeper::lost(Held& held) {
  if (held.deadline.load(std::memory_order_relaxed) != kForever) alarm_.start();
  std::stop_token token;
  Instant deadline{0};
  std::uint64_t serial = 0;
  {
    const base::LockGuard lock(mutex_);
    if (held.lost) return held.lost->get_token();
    held.lost.emplace();
    token = held.lost->get_token();
    deadline = held.deadline;
    if (held.is_lost || clock().now() >= deadline) {
      held.is_lost = true;
      held.lost->request_stop();
      return token;
    }
    if (deadline == kForever) return token;
    alarms_.set(held, deadline);
    held.watched = true;
    serial = held.serial;
  }
  alarm_.need(deadline);
  const auto changed = [weak = weak_from_this(), &held, serial] {
    if (const auto self = weak.lock()) self->check_soon(held, serial);
  };
  try {
    if (!store_->watch(held.token.gate, held.token.visitor, changed)) changed();
  } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): renewals tell as well, later
  }
  return token;
}

// Something happened to it: a renewal tells what.
void Keeper::check_soon(Held& held, std::uint64_t serial) {
  const base::LockGuard lock(mutex_);
  if (held.serial != serial || held.is_lost) return;
  held.lane->renewals.set(held, Instant{0});
  (void)held.lane->worker.try_need(Instant{0});  // It has its thread, if it is to be renewed.
}

bool Keeper::has_losses() {
  const base::LockGuard lock(mutex_);
  return !losses_.empty();
}

void Keeper::set_lost(Held& held) {
  held.lane->renewals.clear(held);
  alarms_.clear(held);
  if (held.is_ending) return;
  held.is_lost = true;
  if (std::exchange(held.told, true)) return;
  if (held.lost || held.terms.observer) {
    losses_.push_back({held.lost, held.terms.observer, held.token.gate});
  }
}

void Keeper::sound_alarms() {
  std::vector<Loss> losses;
  {
    const base::LockGuard lock(mutex_);
    const Instant now = clock().now();
    while (Held* held = alarms_.due(now)) set_lost(*held);
    losses.swap(losses_);
    alarm_.plan(alarms_.first());
  }
  // A callback may end this keeper: nothing of it is touched any more.
  for (Loss& loss : losses) {
    if (loss.lost) loss.lost->request_stop();
    if (loss.observer) tell(*loss.observer, {.kind = Event::Kind::lost, .gate = loss.gate.view()});
  }
}

// --- giving back ---

void Keeper::send_releases() {
  if (releases_.send()) awaiting_->tell();
  const base::LockGuard lock(mutex_);
  release_.plan(releases_.next());
}

void Keeper::release_later(const Token& token, Instant until) noexcept {
  releases_.add(token, until);
  (void)release_.try_need(Instant{0});  // Without a thread it waits for whoever needs one next.
}

// --- the end ---

template <typename Over>
bool Keeper::await(Duration at_most, Over over) {
  const Instant end = saturating_add(clock().now(), at_most);
  const auto is_over = [&] {
    const base::LockGuard lock(mutex_);
    return over();
  };
  ++awaiting_->threads;
  std::unique_lock lock(awaiting_->mutex);
  while (!is_over() && clock().now() < end) clock().wait_until(lock, awaiting_->changed, end);
  --awaiting_->threads;
  return is_over();
}

bool Keeper::drain(Duration at_most) {
  return await(at_most, [this]() AIRLOCK_REQUIRES(mutex_) { return leases_ == 0; });
}

bool Keeper::flush(Duration at_most) {
  {
    const base::LockGuard lock(mutex_);
    // Perhaps no thread could be started when it was queued.
    if (!releases_.is_empty()) (void)release_.try_need(releases_.next());
  }
  return await(at_most, [this]() AIRLOCK_REQUIRES(mutex_) { return is_all_given_back(); });
}

}  // namespace airlock::internal

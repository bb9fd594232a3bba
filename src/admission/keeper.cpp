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

// Renewals so close to one another are one call.
constexpr Duration kSoon = std::chrono::milliseconds(50);

// A shard or server that is busy is waited for until the next lease is due, but at least this long.
constexpr Duration kLeastWait = std::chrono::milliseconds(20);

// What could not be done, for want of a thread, is tried again after this.
constexpr Duration kAgain = std::chrono::milliseconds(100);

// A renewal beyond the end of max_hold is none.
bool is_renewable(const Held& held) noexcept { return held.store_end < held.hold_end; }

// A third of the ttl, and up to a tenth of that earlier, so that leases that began together do not
// stay together. The visitor is as random as anything.
Duration renew_after(const Held& held, Duration ttl) noexcept {
  const Duration third = ttl / 3;
  return third - third / 10 * static_cast<std::int64_t>(held.token.visitor.low % 256) / 256;
}

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
  const bool needs_care = lasts && (is_renewable(held) || terms.observer);
  if (needs_care) lane.renewals.set(held, sent + renew_after(held, ttl));
  ++leases_;
  return {held, lane, needs_care};
}

Lease Keeper::keep(const Granted& granted, Instant sent, const Terms& terms) {
  const auto [held, lane, needs_care] = enlist(granted, sent, terms);
  try {
    if (needs_care) lane.worker.need(sent + renew_after(held, granted.expires_in));
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

// --- renewals ---

struct Keeper::Renewing {
  static constexpr std::size_t kMost = 256;
  struct Lease {
    Held* held;
    std::uint64_t serial;
  };
  std::vector<Lease> leases;
  std::vector<RenewItem> items;
  Duration at_most = kForever;
};

void Keeper::keep_all(Lane& lane) {
  for (bool more = true; more;) {
    Renewing due;
    {
      const base::LockGuard lock(mutex_);
      collect_due(lane, due, clock().now());
      more = !due.leases.empty();
      if (!more) lane.worker.plan(next_work(lane));
      due.at_most = std::max(lane.renewals.first() - clock().now(), kLeastWait);
      lane.renewing = due.leases.size();
    }
    if (more) renew(lane, due);
    if (has_losses()) (void)alarm_.try_need(Instant{0});
  }
}

// While losses wait for airlock-alarm, which perhaps cannot be started, soon.
Instant Keeper::next_work(const Lane& lane) {
  const Instant to_tell = losses_.empty() ? kForever : clock().now() + kAgain;
  return std::min(lane.renewals.first(), to_tell);
}

// Those whose time has come, and with them those whose time comes soon: waking up costs more than a
// renewal.
void Keeper::collect_due(Lane& lane, Renewing& due, Instant now) {
  while (due.leases.size() < Renewing::kMost) {
    Held* const held = lane.renewals.due(due.leases.empty() ? now : now + kSoon);
    if (held == nullptr) return;
    if (!held->is_ending && now < held->deadline.load() && is_renewable(*held)) {
      lane.renewals.clear(*held);
      const Duration rest = held->hold_end - now;
      due.leases.push_back({held, held->serial});
      due.items.push_back({.token = held->token, .ttl = std::min(held->terms.ttl, rest)});
    } else if (!retire(*held, now)) {
      return;
    }
  }
}

// What is not renewed any more: it is given back, lost, or lasts as long as it may and is lost when
// that ends. False: that is later.
bool Keeper::retire(Held& held, Instant now) {
  const Instant deadline = held.deadline;
  if (held.is_ending) {
    held.lane->renewals.clear(held);
  } else if (now >= deadline) {
    set_lost(held);
  } else {
    held.lane->renewals.set(held, deadline);
    return deadline > now + kSoon;
  }
  return true;
}

void Keeper::renew(Lane& lane, Renewing& due) {
  const Instant sent = clock().now();
  try {
    store_->renew_within(due.items, due.at_most);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the items tell
  }
  std::vector<std::uint64_t> servers;  // Where the gates are by now.
  for (const RenewItem& item : due.items) servers.push_back(server_of(item.token.gate));
  const base::LockGuard lock(mutex_);
  for (std::size_t i = 0; i < due.leases.size(); ++i) {
    Held& held = *due.leases[i].held;
    if (held.serial != due.leases[i].serial) continue;  // Given back meanwhile.
    move(held, servers[i]);
    note_renewal(held, due.items[i], sent);
    if (held.lane != &lane) (void)held.lane->worker.try_need(held.lane->renewals.first());
  }
  lane.renewing = 0;
}

void Keeper::note_renewal(Held& held, const RenewItem& item, Instant sent) {
  const Instant now = clock().now();
  if (item.result == Renewal::unknown) {  // Soon again, and more often towards the end.
    constexpr Duration kLeast = std::chrono::milliseconds(50);
    const Duration left = held.deadline.load() - now;
    return held.lane->renewals.set(held, now + std::max(left / 4, kLeast));
  }
  const bool in_time = !held.is_lost && now < held.deadline.load();
  if (item.result != Renewal::renewed || !in_time) return set_lost(held);
  const Instant deadline = seal::deadline(sent, item.ttl);
  held.deadline = deadline;
  held.store_end = saturating_add(sent, item.ttl);
  held.lane->renewals.set(held, sent + renew_after(held, item.ttl));
  if (held.lost) alarms_.set(held, deadline);
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

#include <algorithm>
#include <vector>

#include "admission/keeper.hpp"
#include "airlock/error.hpp"
#include "seal/steps.hpp"

// What the threads airlock-keep do.

namespace airlock::internal {
namespace {

// Renewals so close to one another are one call.
constexpr Duration kSoon = std::chrono::milliseconds(50);

// A shard or server that is busy is waited for until the next lease is due, but at least this long.
constexpr Duration kLeastWait = std::chrono::milliseconds(20);

// What could not be done, for want of a thread, is tried again after this.
constexpr Duration kAgain = std::chrono::milliseconds(100);

}  // namespace

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
    if (!held->is_ending && now < held->deadline.load() && held->is_renewable()) {
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
  held.lane->renewals.set(held, sent + held.renew_after(item.ttl));
  if (held.lost) alarms_.set(held, deadline);
}

}  // namespace airlock::internal

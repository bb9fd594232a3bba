#include "store/redis/leases.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "store/validate.hpp"

namespace airlock::redis {

// --- renewals ---

void Leases::renew(std::span<RenewItem> items) {
  const Deadline deadline(options_.timeout);
  renew(items, deadline, deadline);
}

// A renewal is useless once the lease has ended: it is tried after a third of the ttl.
void Leases::renew_within(std::span<RenewItem> items, Duration at_most) {
  Duration longest{0};
  for (const RenewItem& item : items) longest = std::max(longest, item.ttl);
  const Deadline deadline(std::min(options_.timeout, longest / 3 * 2));
  renew(items, deadline, deadline.sooner(at_most));
}

Call Leases::renewal_of(const RenewItem& item, const Deadline& deadline) const {
  Call renewal = calls_.with_token(Step::renew, item.token, deadline);
  renewal.add_number(item.ttl.count()).add_number(item.weight.value_or(0)).require_ack();
  return renewal;
}

void Leases::renew(std::span<RenewItem> items, const Deadline& deadline, const Deadline& settling) {
  std::vector<Call> calls;
  calls.reserve(items.size());
  for (const RenewItem& item : items) {
    validate_ttl(item.ttl);
    if (item.weight == 0) throw InvalidArgument("weight 0: a lease weighs at least 1");
    calls.push_back(renewal_of(item, deadline));
  }
  Batch batch = runner_.run_all(calls, deadline);
  std::vector<GateName> unsettled;
  bool is_any_gone = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::optional<Reply>& reply = batch.replies[i];
    if (!reply) continue;
    if (reply->is_error()) {
      batch.failure = Failure::of(refusal_of(reply->text()));
      continue;
    }
    if (take_in(items[i], *reply, deadline)) unsettled.push_back(items[i].token.gate);
    if (items[i].result == Renewal::gone) is_any_gone = true;
  }
  runner_.settle(std::move(unsettled), deadline, settling);
  // In a cluster another server may have the id, and be down: renewals do not wait for it.
  if (is_any_gone && client_.has_one_server()) identity_.recheck(deadline);
  if (batch.failure) throw StoreError(batch.failure->error());
}

bool Leases::take_in(RenewItem& item, const Reply& reply, const Deadline& deadline) {
  Unpacker fields(reply.text());
  const ReplyHead head = read_head(fields);
  if (head.kind == AnswerKind::again) {
    Call again = renewal_of(item, deadline);
    item.result = runner_.run(again, item.token.gate, deadline).fields().whole<Renewal>();
    return false;
  }
  item.result = fields.whole<Renewal>();
  return head.more;
}

// --- releases ---

bool Leases::release(const Token& token) {
  const Deadline until = runner_.deadline();
  Call release = calls_.with_token(Step::release, token, until);
  const bool released = runner_.run(release, token.gate, until).happened();
  runner_.confirm(token);
  if (!released) identity_.recheck(until);
  return released;
}

bool Leases::release_soon(const Token& token, Instant until, bool by_next_step) noexcept {
  return runner_.pending_releases().add(token, until, by_next_step);
}

void Leases::release_all(std::span<internal::ReleaseItem> items) noexcept try {
  const Deadline deadline(options_.timeout);
  std::vector<Call> calls;
  std::vector<internal::ReleaseItem*> called;
  for (internal::ReleaseItem& item : items) {
    if (needs_no_call(item, deadline)) continue;
    calls.push_back(calls_.release(item.token, deadline));
    called.push_back(&item);
  }
  const Batch batch = runner_.run_all(calls, deadline);
  std::vector<GateName> unsettled;
  for (std::size_t i = 0; i < called.size(); ++i) {
    const std::optional<Reply>& reply = batch.replies[i];
    if (!reply || reply->is_error()) continue;
    if (take_in(*called[i], *reply, deadline)) unsettled.push_back(called[i]->token.gate);
  }
  runner_.settle(std::move(unsettled), deadline, deadline);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the rest is not over
}

// What is noted and not there any more is over. Nobody can give back what is foreign.
bool Leases::needs_no_call(internal::ReleaseItem& item, const Deadline& deadline) {
  using State = PendingReleases::State;
  const State state =
      item.is_noted ? runner_.pending_releases().state_of(item.token) : State::waiting;
  const bool is_foreign = item.token.fence != 0 && !identity_.knows(item.token.store, deadline);
  item.is_over = is_foreign || state == State::over;
  return item.is_over || state == State::carried;
}

bool Leases::take_in(internal::ReleaseItem& item, const Reply& reply, const Deadline& deadline) {
  Unpacker fields(reply.text());
  const ReplyHead head = read_head(fields);
  const bool is_done = head.kind != AnswerKind::again;
  if (!is_done) {
    Call again = calls_.release(item.token, deadline);
    (void)runner_.run(again, item.token.gate, deadline);
  }
  item.is_over = true;
  runner_.confirm(item.token);
  return is_done && head.more;
}

void Leases::release_noted(std::span<const GateName> gates) {
  std::vector<internal::ReleaseItem> items;
  const PendingReleases::Load load = runner_.pick_up(gates, PendingReleases::Which::all);
  for (const Token& token : load.tokens()) items.push_back({.token = token});
  if (!items.empty()) release_all(items);
}

void Leases::release_at_last() noexcept try {
  std::vector<internal::ReleaseItem> items;
  for (const Token& token : runner_.pending_releases().left_to_next_step())
    items.push_back({.token = token});
  if (!items.empty()) release_all(items);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): time ends it
}

// --- whose they are ---

std::optional<Granted> Leases::set_hold(const Token& token, Hold hold) {
  const Deadline until = runner_.deadline();
  Call call = calls_.with_token(Step::set_hold, token, until);
  call.add(hold == Hold::detached ? "1" : "0").add("");
  const StepResult result = runner_.run(call.require_ack(), token.gate, until);
  if (result.head.kind != AnswerKind::granted) {
    identity_.recheck(until);
    return std::nullopt;
  }
  if (!result.acknowledged) throw too_few_replicas();
  Unpacker fields = result.fields();
  return read_granted(fields, token);
}

bool Leases::holds(const Token& token) {
  const Deadline until = runner_.deadline();
  Call holds = calls_.with_token(Step::holds, token, until);
  return runner_.run(holds, token.gate, until).fields().flag();
}

}  // namespace airlock::redis

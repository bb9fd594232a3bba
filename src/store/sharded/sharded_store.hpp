#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/admit_fast.hpp"
#include "store/backend.hpp"
#include "store/sharded/step.hpp"
#include "store/validate.hpp"

namespace airlock::sharded {

// What stores that keep their state in shards of the model have in common: a step is one call to a
// shard, under its lock, at one moment.
//
// Self says where the shards are and what locks them:
//
//   attachment()                        of this process: a pointer to Attachment, which is kept while the
//                                  pointer lives, or an Attachment*; has
//     id(), seed(), owner(), and views, pointers to
//   attachment(before)                  the same; calls `before` first if it is yet to be made
//   ShardView                           a StepSource with a `shard`
//   Guard(Self&, Attachment&, ShardView&, Duration)   holds the lock, if it can be had within the duration
//                                  and the store's timeout; at its end tells those who must know,
//                                  unlocked
//   is_busy(const ShardView&)           whether somebody has the lock
//   Guard::begin(StepContext&)          what is to be done before the step
//   ShardView::has_suspects()           whether the step may have failed for want of what the dead hold
//   Guard::looks_again()           ends the step and looks; true: it was so, and it has the lock again
//   release_without_lock(...)            gives back without the lock, where it cannot be had; false: no
template <typename Self, typename Attachment, typename ShardView, typename Guard>
class ShardedStore : public internal::Backend {
 public:
  StoreId id() override { return self().attachment()->id(); }
  Clock& clock() noexcept override { return clock_; }

  Answer admit(const Request& request) override {
    const auto attachment = self().attachment([&] { validate(request); });
    // Before the rules are checked: one waits for the other's results nowhere, and takes as long.
    const Location location = Location::of(*attachment, request.gate);
    validate(request);
    if (model::is_rate_only(request)) return admit_rate_only(request, location);
    return ask(request, location);
  }

  GroupAnswer admit_all(std::span<const Request> requests) override {
    validate_group(requests);
    const auto attachment = self().attachment();
    std::vector<std::uint32_t> hashes;
    for (const Request& request : requests) {
      hashes.push_back(
          static_cast<std::uint32_t>(Location::hash_of(*attachment, request.gate.view())));
    }
    const Location location = Location::of(*attachment, requests.front().gate);
    Step step(self(), location, StepTime::and_stamps);
    GroupAnswer answer = step->admit_all(requests, hashes, step.requester(), step.context());
    while (step.begins_again()) {
      answer = step->admit_all(requests, hashes, step.requester(), step.context());
    }
    return answer;
  }

  bool leave(const GateName& gate, const VisitorId& visitor) override {
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    return step->leave(gate.view(), step.hash(), visitor, step.context());
  }

  bool mark_absent(const GateName& gate, const VisitorId& visitor) override {
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    return step->mark_absent(gate.view(), step.hash(), visitor, step.context());
  }

  void refund(const Request& request) override {
    validate(request);
    const auto attachment = self().attachment();
    Step step(self(), *attachment, request.gate);
    step->refund(request, step.hash(), step.context());
  }

  void renew(std::span<RenewItem> items) override { renew_within(items, kForever); }

  void renew_within(std::span<RenewItem> items, Duration at_most) override {
    const auto attachment = self().attachment();
    for (RenewItem& item : items) {
      check(*attachment, item.token);
      validate_ttl(item.ttl);
      if (item.weight == 0) throw InvalidArgument("weight 0: a lease weighs at least 1");
      item.result = Renewal::unknown;
    }
    const std::exception_ptr failure = for_each(
        *attachment, items, at_most, [&](RenewItem& item, const Location& location, Duration left) {
          Step step(self(), location, StepTime::exact, left);
          step->renew(item, step.hash(), step.context());
        });
    if (failure) std::rethrow_exception(failure);
  }

  bool release(const Token& token) override {
    const auto attachment = self().attachment([] {});
    check(*attachment, token);
    return release(*attachment, token, kForever);
  }

  // What is busy is given back by another call.
  void release_all(std::span<internal::ReleaseItem> items) noexcept override try {
    constexpr Duration kShort = std::chrono::milliseconds(20);
    const auto attachment = self().attachment();
    (void)for_each(*attachment, items, kShort,
                   [&](internal::ReleaseItem& item, const Location& location, Duration left) {
                     if (item.token.fence == 0) {  // Somebody left while the shard was busy.
                       Step step(self(), location, StepTime::exact, left);
                       (void)step->leave(item.token.gate.view(), step.hash(), item.token.visitor,
                                         step.context());
                     } else if (attachment->knows(item.token.store)) {
                       (void)release(*attachment, item.token, left);
                     }
                     item.is_over = true;  // Nobody can give back what is of another store.
                   });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the rest is not over
  }

  bool disown(const Token& token) override {
    const auto attachment = self().attachment();
    Step step(self(), check(*attachment, token), token.gate);
    return step->disown(token, step.hash(), step.context());
  }

  std::optional<Granted> adopt(const Token& token) override {
    const auto attachment = self().attachment();
    Step step(self(), check(*attachment, token), token.gate);
    return step->adopt(token, step.hash(), step.requester().owner, step.context());
  }

  bool holds(const Token& token) override {
    const auto attachment = self().attachment();
    Step step(self(), check(*attachment, token), token.gate);
    bool holds = step->holds(token, step.hash(), step.context());
    while (step.begins_again()) holds = step->holds(token, step.hash(), step.context());
    return holds;
  }

  std::optional<GateView> look(const GateName& gate) override {
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    std::optional<GateView> view = step->look(gate.view(), step.hash(), step.context());
    while (step.begins_again()) view = step->look(gate.view(), step.hash(), step.context());
    return view;
  }

  std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    std::vector<GateCounts> result;
    result.reserve(gates.size());
    const auto attachment = self().attachment();
    for (const GateName& gate : gates) {
      Step step(self(), *attachment, gate);
      GateCounts counts = step->counts(gate.view(), step.hash(), step.context());
      while (step.begins_again()) counts = step->counts(gate.view(), step.hash(), step.context());
      result.push_back(counts);
    }
    return result;
  }

  std::vector<std::string> list() override {
    std::vector<std::string> names;
    const auto attachment = self().attachment();
    for (auto& view : attachment->views) {
      Step step(self(), *attachment, *view);
      step->list(names, step.context());
    }
    std::ranges::sort(names);
    return names;
  }

  std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override {
    std::vector<GateSummary> all;
    const auto attachment = self().attachment();
    for (const std::string& name : list()) {
      if (!include(name)) continue;
      const GateName gate(name);
      Step step(self(), *attachment, gate);
      std::optional<GateView> view = step->summary(gate.view(), step.hash(), step.context());
      while (step.begins_again()) {
        view = step->summary(gate.view(), step.hash(), step.context());
      }
      if (view) all.push_back({.gate = std::move(*view)});  // Else it was forgotten meanwhile.
    }
    return all;
  }

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    if (limit) validate_limit(*limit);
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    step->set_limit(gate, step.hash(), limit, step.context());
  }

  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    validate_pause(duration, reporter);
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    step->pause(gate, step.hash(), duration, reporter, step.context());
  }

  bool resume(const GateName& gate, std::string_view reporter) override {
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    return step->resume(gate.view(), step.hash(), reporter, step.context());
  }

  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    return step->revoke(gate.view(), step.hash(), visitor, how, step.context());
  }

  bool purge(const GateName& gate) override {
    const auto attachment = self().attachment();
    Step step(self(), *attachment, gate);
    return step->purge(gate.view(), step.hash(), step.context());
  }

  void collect() override {
    const auto attachment = self().attachment();
    for (auto& view : attachment->views) {
      Step step(self(), *attachment, *view);
      step->sweep_all(step.context());
    }
  }

 protected:
  explicit ShardedStore(Clock& clock) noexcept : clock_(clock) {}

  using Location = GateLocation<Attachment, ShardView>;
  using Step = sharded::Step<Self, Attachment, ShardView, Guard>;

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  // One return, so that the answer is made where it is needed: to move it costs as much.
  Answer ask(const Request& request, const Location& location) {
    Step step(self(), location, StepTime::and_stamps);
    const model::At<model::Gate> gate = step->open(request.gate, step.hash(), step.context());
    Answer answer = step->admit(gate, request, step.requester(), step.context());
    if (location.view.has_suspects()) [[unlikely]]
      ask_again(step, request, answer);
    return answer;
  }

  // The answer before counts as never given.
  [[gnu::cold, gnu::noinline]] void ask_again(Step& step, const Request& request, Answer& answer) {
    while (step.begins_again()) {
      const model::At<model::Gate> gate = step->open(request.gate, step.hash(), step.context());
      if (const auto* refused = std::get_if<Refused>(&answer)) {
        step->uncount_refusal(*gate, refused->reason);
      }
      answer = step->admit(gate, request, step.requester(), step.context());
    }
  }

  // A question to a rate alone: what it costs is computed before the lock is taken, and the answer
  // is written when others may have it.
  Answer admit_rate_only(const Request& request, const Location& location) {
    model::Payment payment(request.rates.front(), request.cost);
    {
      Step step(self(), location, StepTime::and_stamps);
      const model::At<model::Gate> gate = step->open(request.gate, step.hash(), step.context());
      if (!step->try_take(gate, payment, step.context().now)) {
        return step->admit(gate, request, step.requester(), step.context());
      }
    }
    return model::answer_to_payment(request, location.attachment.id(), payment);
  }

  bool release(Attachment& attachment, const Token& token, Duration at_most) {
    if (token.place != 0 && model::shard_of(token.place) < attachment.views.size()) {
      ShardView& view = *attachment.views[model::shard_of(token.place)];
      if (self().release_without_lock(attachment, view, token)) return true;
      Step step(self(), attachment, view, StepTime::of_last_tick, at_most);
      if (step->release_at(token, step.context())) return true;
    }
    Step step(self(), Location::of(attachment, token.gate), StepTime::exact, at_most);
    return step->release(token, step.hash(), step.context());
  }

  // Works on each item by itself; what fails there hinders no other. Those of shards that are free
  // come first; a shard that cannot be had is waited for once. Returns the last failure.
  template <typename Item, typename Work>
  std::exception_ptr for_each(Attachment& attachment, std::span<Item> items, Duration at_most,
                              Work work) {
    const Instant end = saturating_add(Clock::system().now(), at_most);
    std::exception_ptr failure;
    std::vector<const ShardView*> given_up;
    const auto attempt = [&](Item& item, const Location& location) {
      if (std::ranges::find(given_up, &location.view) != given_up.end()) return;
      try {
        const Duration left = saturating_sub(end, Clock::system().now());
        work(item, location, std::max(left, Duration(0)));
      } catch (const StoreError&) {
        failure = std::current_exception();
        given_up.push_back(&location.view);
      }
    };
    std::vector<Item*> later;
    for (Item& item : items) {
      const Location location = Location::of(attachment, item.token.gate);
      if (self().is_busy(location.view)) {
        later.push_back(&item);
      } else {
        attempt(item, location);
      }
    }
    for (Item* item : later) attempt(*item, Location::of(attachment, item->token.gate));
    return failure;
  }

  static Attachment& check(Attachment& attachment, const Token& token) {
    if (!attachment.knows(token.store)) throw InvalidArgument("the token belongs to another store");
    return attachment;
  }

  Clock& clock_;
};

}  // namespace airlock::sharded

#include "contract/support/describe.hpp"

#include <sstream>

namespace airlock::contract {
namespace {

struct Describer {
  std::ostringstream out;

  void rate(const RateInfo& info) {
    if (info.limit == 0 && info.reset_after == Duration(0)) return;
    out << " rate[" << info.remaining << "/" << info.limit << " retry " << to_text(info.retry_after)
        << " reset " << to_text(info.reset_after) << "]";
  }

  void operator()(const Granted& granted) {
    out << "Granted fence " << granted.token.fence << " for " << to_text(granted.expires_in);
    if (granted.slot) out << " slot " << *granted.slot;
    if (granted.repeated) out << " repeated";
    out << " taken " << granted.taken << " delay " << to_text(granted.delay);
    rate(granted.rate);
  }

  void operator()(const Queued& queued) {
    out << "Queued " << queued.position << " of " << queued.waiting << " next check "
        << to_text(queued.next_check) << " eta " << to_text(queued.eta);
    rate(queued.rate);
  }

  void operator()(const Refused& refused) {
    out << "Refused " << to_text(refused.reason) << " retry after " << to_text(refused.retry_after);
    rate(refused.rate);
  }

  void holder(const HolderView& holder) {
    out << "\n  holds: " << holder.label << " fence " << holder.fence << " weight "
        << holder.weight;
    if (holder.slot) out << " slot " << *holder.slot;
    out << " age " << to_text(holder.age) << " remaining " << to_text(holder.remaining)
        << (holder.claimed ? "" : " unclaimed") << (holder.revoked ? " revoked" : "")
        << (holder.hold == Hold::bound ? "" : " detached");
  }

  void waiter(const WaiterView& waiter) {
    out << "\n  waits: " << waiter.label << " weight " << waiter.weight << " priority "
        << waiter.priority << " waited " << to_text(waiter.waited)
        << (waiter.present ? "" : " absent") << (waiter.hold == Hold::bound ? "" : " detached");
  }

  void counters(const Counters& counters) {
    out << "\n  counters: granted " << counters.granted << " refused";
    for (const auto count : counters.refused) out << " " << count;
    out << " expired " << counters.expired << " revoked " << counters.revoked << " died "
        << counters.died << " missed " << counters.missed << " abandoned " << counters.abandoned
        << " waits";
    for (const auto count : counters.waits) out << " " << count;
    out << " sum " << to_text(counters.wait_sum);
  }

  void operator()(const GateView& view) {
    out << view.name << ": " << view.counts.in_use << "/" << view.counts.limit << " holders "
        << view.counts.holders << " waiting " << view.counts.waiting;
    if (view.override_limit) out << " override " << *view.override_limit;
    if (view.limits_disagree) out << " limits disagree";
    out << " order " << static_cast<int>(view.order) << " last fence " << view.last_fence;
    for (const auto& each : view.holders) holder(each);
    for (const auto& each : view.line) waiter(each);
    for (const auto& each : view.rates) {
      out << "\n  " << each.rate.text();
      rate(each.info);
    }
    for (const auto& each : view.pauses)
      out << "\n  paused by '" << each.reporter << "' for " << to_text(each.remaining);
    counters(view.counters);
  }
};

}  // namespace

std::string describe(const Answer& answer) {
  Describer describer;
  std::visit([&](const auto& kind) { describer(kind); }, answer);
  return describer.out.str();
}

std::string describe(const GateView& view) {
  Describer describer;
  describer(view);
  return describer.out.str();
}

}  // namespace airlock::contract

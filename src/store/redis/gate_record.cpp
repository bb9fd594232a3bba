#include "store/redis/gate_record.hpp"

#include <algorithm>
#include <utility>

#include "store/redis/records.hpp"

namespace airlock::redis {
namespace {

constexpr const MetaLayout& kFields = kMetaLayout;
constexpr double kIdle = 600'000'000;  // IDLE of lua/formats.lua.

}  // namespace

GateRecord::GateRecord(Parts parts, double clock) : parts_(std::move(parts)) {
  is_forgotten_ = at(kFields.forgotten).read<std::uint8_t>() == 1;
  now_ = std::max(clock + at(kFields.offset).number(), at(kFields.last).number());
  next_due_ = at(kFields.next_due).number();
  visits_ = at(kFields.visits).read<std::uint32_t>();
  override_limit_ = at(kFields.override_limit).whole_or_none();
  counts_.in_use = at(kFields.in_use).whole<std::uint32_t>();
  counts_.holders = at(kFields.holders).read<std::uint32_t>();
  counts_.waiting = at(kFields.waiters).read<std::uint32_t>();
  counts_.limit = at(kFields.limit).whole<std::uint32_t>();
  counts_.exclusive = counts_.limit != 0 && at(kFields.exclusive).read<std::uint8_t>() != 0;
  counts_.overridden = override_limit_.has_value();
  if (override_limit_) {
    counts_.limit =
        counts_.exclusive ? std::min(*override_limit_, counts_.limit) : *override_limit_;
  }
}

bool GateRecord::is_usual() const noexcept {
  return (now_ < next_due_ || visits_ == 0) && (!names_holder() || !parts_.holder.empty());
}

Summary GateRecord::summary(const GateName& gate) const {
  GateView view{.name = gate.text()};
  view.counts = counts_;
  view.override_limit = override_limit_;
  view.limits_disagree = visits_ != 0 && at(kFields.disagree).read<std::uint8_t>() != 0;
  view.order = at(kFields.order).read<Order>();
  view.last_fence = at(kFields.fence).whole<Fence>();
  view.counters = read_counters(at(kFields.quick).whole(), parts_.counters);
  const Duration now(static_cast<std::int64_t>(now_));
  if (names_holder()) {
    Visits holder;
    holder.add(parts_.meta.substr(kFields.lone, 16), parts_.holder);
    holder.show_in(view, now);
  }
  read_rates(parts_.rates, view);
  read_pauses(parts_.pauses, now, view);
  const bool is_rated = std::ranges::any_of(
      view.rates, [](const RateView& rate) { return rate.info.reset_after != Duration(0); });
  const bool is_quiet = !override_limit_ && !is_rated && view.pauses.empty() &&
                        now_ - at(kFields.used).number() >= kIdle;
  return {std::move(view), visits_, is_quiet};
}

}  // namespace airlock::redis

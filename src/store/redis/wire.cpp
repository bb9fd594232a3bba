#include "store/redis/wire.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "airlock/error.hpp"
#include "base/label.hpp"
#include "store/redis/records.hpp"

namespace airlock::redis {
namespace {

enum class State : std::uint8_t { waiting = 1, absent, handed, holding, spent };

// VISIT of lua/records.list.
struct VisitRecord {
  VisitorId visitor;
  State state{};
  Hold hold{};
  std::uint16_t priority = 0;
  std::uint32_t weight = 0;
  std::optional<std::uint32_t> slot;
  Fence fence = 0;
  Duration expiry{0}, joined{0}, granted{0}, revoked{0}, patience_end{0};
  double place = 0;
  std::string label;
};

std::uint64_t read_big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

VisitRecord read_visit(std::string_view visitor, std::string_view bytes) {
  const auto at = [bytes](std::size_t field) { return Unpacker(bytes).from(field); };
  const VisitLayout& fields = kVisitLayout;
  VisitRecord visit;
  visit.visitor.high = read_big_endian(visitor.substr(0, 8));
  visit.visitor.low = read_big_endian(visitor.substr(8));
  visit.state = at(fields.state).read<State>();
  visit.hold = at(fields.hold).read<Hold>();
  visit.priority = at(fields.priority).read<std::uint16_t>();
  visit.weight = at(fields.weight).read<std::uint32_t>();
  visit.slot = at(fields.slot).whole_or_none();
  visit.fence = at(fields.fence).whole<Fence>();
  visit.revoked = at(fields.revoked).duration();
  visit.expiry = at(fields.expiry).duration();
  visit.granted = at(fields.granted).duration();
  visit.joined = at(fields.joined).duration();
  visit.patience_end = at(fields.patience_end).duration();
  visit.place = at(fields.place).number();
  Unpacker texts = at(fields.channel);
  (void)texts.take(texts.read<std::uint16_t>());
  visit.label = texts.take(texts.read<std::uint8_t>());
  return visit;
}

bool is_inside(const VisitRecord& visit) noexcept {
  return visit.state == State::handed || visit.state == State::holding;
}

bool is_in_line(const VisitRecord& visit) noexcept {
  return visit.state == State::waiting || visit.state == State::absent;
}

HolderView holder_view(VisitRecord visit, Duration now) {
  HolderView view;
  view.visitor = visit.visitor;
  view.label = std::move(visit.label);
  view.fence = visit.fence;
  view.weight = visit.weight;
  view.slot = visit.slot;
  view.age = std::max(now - visit.granted, Duration(0));
  view.remaining = visit.expiry - now;
  view.claimed = visit.state == State::holding;
  view.revoked = visit.revoked != Duration(0);
  view.hold = visit.hold;
  return view;
}

WaiterView waiter_view(VisitRecord visit, Duration now) {
  return {.visitor = visit.visitor,
          .label = std::move(visit.label),
          .weight = visit.weight,
          .priority = visit.priority,
          .waited = std::max(now - visit.joined, Duration(0)),
          .present = visit.state == State::waiting,
          .hold = visit.hold};
}

RateInfo read_rate_info(Unpacker& from) {
  RateInfo info;
  info.limit = from.whole<std::uint32_t>();
  info.remaining = from.whole<std::uint32_t>();
  info.retry_after = from.duration();
  info.reset_after = from.duration();
  return info;
}

RateView read_tier(std::string_view bytes) {
  Unpacker from(bytes);
  RateView view;
  view.rate.algorithm = from.read<Rate::Algorithm>();
  view.rate.period = from.duration();
  view.rate.count = from.read<std::uint32_t>();
  view.rate.burst = from.read<std::uint32_t>();
  (void)from.take(2 * sizeof(double) + 4 * sizeof(std::uint32_t));  // its state
  view.info = read_rate_info(from);
  return view;
}

// Not below 0: portions are of different moments.
template <typename Count>
void lower(Count& count, std::uint64_t by) {
  count -= static_cast<Count>(std::min<std::uint64_t>(count, by));
}

}  // namespace

void Unpacker::throw_senseless() {
  throw StoreError(
      StoreError::Kind::incompatible, StoreError::Outcome::unknown,
      "redis: the reply of a script cannot be read: another program, or another version "
      "of airlock, writes keys of this prefix (docs/upgrade.md)");
}

std::string_view Unpacker::take(std::size_t size) {
  if (size > bytes_.size()) throw_senseless();
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

ReplyHead read_head(Unpacker& from) {
  ReplyHead head;
  head.kind = from.whole<AnswerKind>();
  head.server_time = from.duration();
  const double more = from.number();
  head.more = more > 0;
  head.soon = more > 1;
  return head;
}

Granted read_granted(Unpacker& from, const Token& token) {
  Granted granted{.token = token};
  granted.token.fence = from.whole<Fence>();
  granted.expires_in = from.duration();
  granted.slot = from.whole_or_none();
  granted.repeated = from.flag();
  granted.taken = from.whole<std::uint32_t>();
  granted.delay = from.duration();
  granted.rate = read_rate_info(from);
  return granted;
}

Queued read_queued(Unpacker& from) {
  Queued queued;
  queued.position = from.whole<std::uint32_t>();
  queued.waiting = from.whole<std::uint32_t>();
  queued.next_check = from.duration();
  queued.eta = from.duration();
  queued.rate = read_rate_info(from);
  return queued;
}

Refused read_refused(Unpacker& from) {
  Refused refused;
  refused.reason = from.whole<Reason>();
  refused.retry_after = from.duration();
  refused.rate = read_rate_info(from);
  return refused;
}

std::string pack_request(const Request& request, bool confirmed) {
  const Permits permits =
      request.permits.value_or(Permits{.limit = 0, .weight = 0, .ttl = Duration(0)});
  const auto flag = [](bool set) { return static_cast<std::uint8_t>(set ? 1 : 0); };
  Packer packer;
  packer.add(flag(request.permits.has_value())).add(flag(permits.exclusive));
  const auto join = static_cast<std::uint8_t>(request.line.returning ? 2 : flag(request.line.join));
  packer.add(request.mode).add(join).add(request.line.order);
  packer.add(flag(request.line.barging)).add(request.hold).add(flag(confirmed));
  packer.add(request.line.priority).add(permits.limit).add(permits.weight).add(request.cost);
  packer.add(request.line.max_waiting).add(permits.ttl).add(request.max_delay);
  packer.add(request.dedupe).add(request.line.patience).add(request.line.claim_window);
  packer.add(request.line.max_eta).add(request.line.aging.base);
  packer.add(request.line.aging.per_second).add(request.line.aging.max);
  return packer.bytes();
}

std::string pack_rates(std::span<const Rate> rates) {
  Packer packer;
  for (const Rate& rate : rates) {
    packer.add(rate.algorithm).add(rate.count).add(rate.period).add(rate.burst);
  }
  return packer.bytes();
}

std::string pack_visitor(const VisitorId& visitor) {
  std::string bytes(16, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[7 - i] = static_cast<char>(visitor.high >> (8 * i));
    bytes[15 - i] = static_cast<char>(visitor.low >> (8 * i));
  }
  return bytes;
}

Counters read_counters(std::uint64_t quick, std::string_view counted) {
  Counters counters;
  counters.granted = counters.waits[0] = quick;
  if (counted.empty()) return counters;
  Unpacker from(counted);
  for (auto& count : counters.refused) count = from.whole();
  counters.expired = from.whole();
  counters.revoked = from.whole();
  counters.missed = from.whole();
  counters.abandoned = from.whole();
  for (auto& count : counters.waits) {
    const auto waited = from.whole();
    count += waited;
    counters.granted += waited;
  }
  counters.wait_sum = from.duration();
  return counters;
}

void read_rates(const std::vector<std::string_view>& tiers, GateView& view) {
  for (const std::string_view tier : tiers) view.rates.push_back(read_tier(tier));
  std::ranges::sort(view.rates, {}, [](const RateView& rate) {
    return std::pair(rate.rate.period, rate.rate.algorithm);
  });
}

void read_pauses(std::string_view packed, Duration now, GateView& view) {
  for (Unpacker pauses(packed); !pauses.is_empty();) {
    const Duration till = pauses.duration();
    const std::string_view reporter = pauses.take(pauses.read<std::uint8_t>());
    if (till > now) view.pauses.push_back({std::string(reporter), till - now});
  }
  std::ranges::sort(view.pauses, {}, &PauseView::reporter);
}

GateView read_view(const GateName& gate, const LookParts& parts) {
  GateView view{.name = gate.text()};
  const Duration now = Unpacker(parts.now).duration();
  Unpacker head(parts.head);
  (void)read_head(head);
  view.counts.in_use = head.whole<std::uint32_t>();
  view.counts.limit = head.whole<std::uint32_t>();
  view.override_limit = head.whole_or_none();
  view.counts.overridden = view.override_limit.has_value();
  view.counts.holders = head.whole<std::uint32_t>();
  view.counts.waiting = head.whole<std::uint32_t>();
  view.counts.exclusive = head.flag();
  view.limits_disagree = head.flag();
  view.order = head.whole<Order>();
  view.last_fence = head.whole<Fence>();
  const auto quick = head.whole();
  view.counters = read_counters(quick, head.rest());
  read_rates(parts.rates, view);
  read_pauses(parts.pauses, now, view);
  return view;
}

void Visits::add(std::string_view field, std::string_view value) {
  if (field.size() == 16) records_.insert_or_assign(std::string(field), value);
}

template <typename Use>
void Visits::for_each(const Use& use) const {
  for (const auto& [visitor, record] : records_) {
    try {
      use(read_visit(visitor, record));
    } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): no record
    }
  }
}

void Visits::show_in(GateView& view, Duration now) const {
  std::vector<VisitRecord> line;
  view.holders.clear();
  for_each([&](VisitRecord visit) {
    if (is_inside(visit)) {
      view.holders.push_back(holder_view(std::move(visit), now));
    } else if (is_in_line(visit)) {
      line.push_back(std::move(visit));
    }
  });
  std::ranges::sort(view.holders, {}, [](const HolderView& holder) {
    return std::tuple(-holder.age, holder.remaining, holder.fence);
  });
  std::ranges::sort(line, {}, &VisitRecord::place);
  for (VisitRecord& visit : line) view.line.push_back(waiter_view(std::move(visit), now));
}

// Hand-overs that nobody claimed go back to the line.
void Visits::count_in(GateView& view, Duration now) const {
  GateCounts& counts = view.counts;
  counts.in_use = counts.holders = counts.waiting = 0;
  for_each([&](const VisitRecord& visit) {
    if (is_inside(visit) && visit.expiry > now) {
      counts.in_use += visit.weight;
      ++counts.holders;
    } else if ((is_in_line(visit) || visit.state == State::handed) && visit.patience_end > now) {
      ++counts.waiting;
    }
  });
}

Summary::Summary(const GateName& gate, const Parts& parts) : view(read_view(gate, parts.look)) {
  Unpacker rest(parts.rest);
  now_ = rest.duration();
  visits_ = rest.whole();
  is_quiet_ = rest.flag();
  leave_out(parts.rest, parts.ended);
  if (parts.holder.size() != 2) return;
  Visits holder;
  holder.add(parts.holder[0], parts.holder[1]);
  holder.show_in(view, now_);
}

void Summary::count(const Visits& visits) {
  visits.count_in(view, now_);
  visits_ = view.counts.holders + view.counts.waiting;
}

void Summary::leave_out(std::string_view rest, std::string_view ended) {
  Unpacker all(rest);
  (void)all.take(3 * sizeof(double));
  is_sound_ = all.flag();
  if (ended.empty()) return;
  Unpacker from(ended);
  lower(view.counts.in_use, from.whole());
  lower(view.counts.holders, from.whole());
  // Hand-overs that nobody claimed go back to the line.
  const double waiters = from.number();
  if (waiters >= 0) lower(view.counts.waiting, static_cast<std::uint64_t>(waiters));
  if (waiters < 0) view.counts.waiting += static_cast<std::uint32_t>(-waiters);
  lower(visits_, from.whole());
  view.counters.expired += from.whole();
  view.counters.revoked += from.whole();
  view.counters.missed += from.whole();
  view.counters.abandoned += from.whole();
}

}  // namespace airlock::redis

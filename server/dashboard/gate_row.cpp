#include "dashboard/gate_row.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "dashboard/json_text.hpp"
#include "gate_json.hpp"

namespace airlock::server {
namespace {

std::uint64_t refused(const Sample& sample) {
  const auto* const first = &sample.values[Sample::kRefused];
  return std::accumulate(first, first + kReasons, std::uint64_t{0});
}

double per_second(std::uint64_t before, std::uint64_t now, double seconds) {
  return seconds > 0 && now > before ? static_cast<double>(now - before) / seconds : 0;
}

void set_rate(GateRow& row, const std::vector<RateView>& rates) {
  const auto left = [](const RateView& rate) {
    return static_cast<double>(rate.info.remaining) / std::max(1U, rate.info.limit);
  };
  const auto tightest =
      std::min_element(rates.begin(), rates.end(),
                       [&left](const RateView& a, const RateView& b) { return left(a) < left(b); });
  if (tightest == rates.end()) return;
  row.rate_limit = tightest->info.limit;
  row.rate_remaining = tightest->info.remaining;
}

// An end that is read again differs by what the reading took: the end of before counts then.
std::int64_t pause_end(const PauseView& pause, std::size_t at, const Moment& moment,
                       const GateRowPtr& before) {
  const std::int64_t end =
      moment.epoch_seconds +
      std::chrono::duration_cast<std::chrono::seconds>(pause.remaining).count();
  if (before == nullptr || at >= before->pauses.size()) return end;
  const auto& [reporter, known] = before->pauses[at];
  return reporter == cli::reporter_of(pause) && std::abs(known - end) <= 1 ? known : end;
}

bool is_same(const GateRow& a, const GateRow& b) {
  return a.kind == b.kind && a.counts == b.counts && a.override_limit == b.override_limit &&
         a.limits_disagree == b.limits_disagree && a.rate_limit == b.rate_limit &&
         a.rate_remaining == b.rate_remaining && a.pauses == b.pauses &&
         a.granted_per_second == b.granted_per_second &&
         a.refused_per_second == b.refused_per_second && a.unreadable == b.unreadable;
}

void append_field(std::string& out, std::string_view name, std::uint64_t value) {
  out.append(",\"").append(name).append("\":");
  append_number(out, value);
}

void append_nonzero(std::string& out, std::string_view name, std::uint64_t value) {
  if (value != 0) append_field(out, name, value);
}

void append_nonzero(std::string& out, std::string_view name, double value) {
  if (value == 0) return;
  out.append(",\"").append(name).append("\":");
  append_number(out, value);
}

void append_nonempty(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out.append(",\"").append(name).append("\":");
  append_text(out, value);
}

void append_pauses(std::string& out, const GateRow& row) {
  if (row.pauses.empty()) return;
  out += ",\"pauses\":[";
  for (const auto& [reporter, until] : row.pauses) {
    out += out.back() == '[' ? "{\"reporter\":" : ",{\"reporter\":";
    append_text(out, reporter);
    append_field(out, "until", static_cast<std::uint64_t>(std::max<std::int64_t>(0, until)));
    out += "}";
  }
  out += "]";
}

std::string json_of(const GateRow& row) {
  const GateCounts counts = displayed(row.counts);
  std::string out = "{\"name\":";
  append_text(out, row.name);
  append_nonempty(out, "kind", row.kind);
  append_nonempty(out, "lock_state", row.lock_state);
  append_nonzero(out, "in_use", std::uint64_t{counts.in_use});
  if (counts.limit != 0 || counts.overridden) append_field(out, "limit", counts.limit);
  if (row.override_limit) append_field(out, "override_limit", *row.override_limit);
  append_nonzero(out, "holder_count", std::uint64_t{counts.holders});
  append_nonzero(out, "waiting", std::uint64_t{counts.waiting});
  if (row.limits_disagree) out += ",\"limits_disagree\":true";
  append_pauses(out, row);
  append_nonzero(out, "granted_per_second", row.granted_per_second);
  append_nonzero(out, "refused_per_second", row.refused_per_second);
  append_nonzero(out, "rate_limit", std::uint64_t{row.rate_limit});
  if (row.rate_limit != 0) append_field(out, "rate_remaining", row.rate_remaining);
  append_nonempty(out, "error", row.unreadable);
  return out += "}";
}

}  // namespace

GateRowPtr make_row(const GateSummary& summary, const Sample& sample, const Moment& moment,
                    const GateRowPtr& before, const Sample* last) {
  const GateView& gate = summary.gate;
  GateRow row{.name = gate.name,
              .kind = summary.unreadable.empty() ? cli::kind_of(gate) : cli::kUnreadable,
              .lock_state = gate.counts.exclusive ? cli::lock_state(gate.counts) : "",
              .counts = gate.counts,
              .override_limit = gate.override_limit,
              .limits_disagree = gate.limits_disagree,
              .unreadable = summary.unreadable};
  set_rate(row, gate.rates);
  for (const PauseView& pause : gate.pauses) {
    row.pauses.emplace_back(cli::reporter_of(pause),
                            pause_end(pause, row.pauses.size(), moment, before));
  }
  if (last != nullptr) {
    row.granted_per_second = per_second(last->values[Sample::kGranted],
                                        sample.values[Sample::kGranted], moment.since_last);
    row.refused_per_second = per_second(refused(*last), refused(sample), moment.since_last);
  }
  if (before != nullptr && is_same(*before, row)) return before;
  row.json = json_of(row);
  return std::make_shared<const GateRow>(std::move(row));
}

}  // namespace airlock::server

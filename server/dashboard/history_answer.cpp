#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>

#include "dashboard/history.hpp"
#include "dashboard/json_text.hpp"

namespace airlock::server {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// What a share of the waits did not exceed; within a bucket as if they were spread evenly. Nothing where there were none.
std::optional<double> quantile(std::span<const std::uint64_t> waits, double share) {
  std::uint64_t count = 0;
  for (const std::uint64_t each : waits) count += each;
  if (count == 0) return std::nullopt;
  double rank = share * static_cast<double>(count);
  double lower = 0;
  for (std::size_t i = 0; i < Counters::kWaitBounds.size(); ++i) {
    const double upper = seconds(Counters::kWaitBounds[i]);
    const auto in_bucket = static_cast<double>(waits[i]);
    if (in_bucket > 0 && rank <= in_bucket) return lower + (upper - lower) * rank / in_bucket;
    rank -= in_bucket;
    lower = upper;
  }
  return lower;  // Of the last bucket only this is known.
}

void append_null_or(std::string& out, const std::optional<double>& number) {
  number ? append_number(out, *number) : static_cast<void>(out += "null");
}

void append_name(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ",";
  out.append("\"").append(name).append("\":");
}

}  // namespace

// The samples in effect at equal steps, the last one at the tick of the question.
struct History::Grid {
  enum class Cell : std::uint8_t { known, not_sampled, not_known, dropped };

  struct Step {
    Cell cell = Cell::not_known;
    Sample sample = {};
  };

  std::uint32_t resolution = 1;
  std::vector<Step> steps = {};  // One more than asked for, before the first.

  [[nodiscard]] bool knows(std::size_t at) const { return steps[at].cell == Cell::known; }

  // How much a count grew until `at`; nothing where that is not known. All of it where the gate was forgotten meanwhile.
  [[nodiscard]] std::optional<std::uint64_t> growth(std::size_t at, std::size_t value) const {
    if (!knows(at) || !knows(at - 1)) return std::nullopt;
    const std::uint64_t before = steps[at - 1].sample.values[value];
    const std::uint64_t now = steps[at].sample.values[value];
    return now >= before ? now - before : now;
  }

  using Cells = std::function<std::optional<double>(std::size_t at)>;
  void append_column(std::string& out, std::string_view name, const Cells& cell) const;
  void append_level(std::string& out, std::string_view name, std::size_t value) const;
  void append_rate(std::string& out, std::string_view name, std::size_t value) const;
  void append_refused(std::string& out) const;
  void append_waits(std::string& out) const;
  void append_missing(std::string& out, std::int64_t first) const;
};

void History::Grid::append_column(std::string& out, std::string_view name,
                                  const Cells& cell) const {
  append_name(out, name);
  out += "[";
  for (std::size_t at = 1; at < steps.size(); ++at) {
    if (at > 1) out += ",";
    append_null_or(out, cell(at));
  }
  out += "]";
}

void History::Grid::append_level(std::string& out, std::string_view name, std::size_t value) const {
  append_column(out, name, [&](std::size_t at) -> std::optional<double> {
    const std::uint64_t level = steps[at].sample.values[value];
    if (!knows(at) || (value == Sample::kLimit && level == 0)) return std::nullopt;
    return static_cast<double>(value == Sample::kLimit ? level - 1 : level);
  });
}

void History::Grid::append_rate(std::string& out, std::string_view name, std::size_t value) const {
  append_column(out, name, [&](std::size_t at) -> std::optional<double> {
    const auto grown = growth(at, value);
    if (!grown) return std::nullopt;
    return static_cast<double>(*grown) / resolution;
  });
}

void History::Grid::append_refused(std::string& out) const {
  append_name(out, "refused_per_second");
  out += "{";
  for (std::size_t reason = 0; reason < kReasons; ++reason) {
    const std::size_t value = Sample::kRefused + reason;
    bool has_any = false;
    for (std::size_t at = 1; at < steps.size() && !has_any; ++at)
      has_any = growth(at, value).value_or(0) != 0;
    if (has_any) append_rate(out, to_text(static_cast<Reason>(reason)), value);
  }
  out += "}";
}

void History::Grid::append_waits(std::string& out) const {
  constexpr std::array<std::pair<std::string_view, double>, 2> kShares = {
      {{"wait_p50_seconds", 0.5}, {"wait_p99_seconds", 0.99}}};
  for (const auto& [name, share] : kShares) {
    append_column(out, name, [&, share = share](std::size_t at) -> std::optional<double> {
      std::array<std::uint64_t, Counters::kWaitBuckets> waits = {};
      for (std::size_t i = 0; i < waits.size(); ++i)
        waits[i] = growth(at, Sample::kWaits + i).value_or(0);
      return quantile(waits, share);
    });
  }
}

void History::Grid::append_missing(std::string& out, std::int64_t first) const {
  constexpr std::array<std::string_view, 4> kWords = {"", "not_sampled", "not_known", "dropped"};
  const auto time = [&](std::size_t at) {
    return static_cast<std::uint64_t>(first + static_cast<std::int64_t>((at - 1) * resolution));
  };
  append_name(out, "missing");
  out += "[";
  for (std::size_t at = 1; at < steps.size();) {
    std::size_t end = at;
    while (end + 1 < steps.size() && steps[end + 1].cell == steps[at].cell) ++end;
    if (!knows(at)) {
      out += out.back() == '[' ? "{\"from\":" : ",{\"from\":";
      append_number(out, time(at));
      out += ",\"to\":";
      append_number(out, time(end));
      out += ",\"because\":";
      append_text(out, kWords[static_cast<std::size_t>(steps[at].cell)]);
      out += "}";
    }
    at = end + 1;
  }
  out += "]";
}

History::Grid History::grid_of(const std::string& gate, std::uint32_t span,
                               std::uint32_t tick) const {
  Grid grid{.resolution = resolution(span)};
  const std::uint32_t step = grid.resolution;
  const std::uint32_t last = tick - tick % step;
  const std::size_t count = span / step + 1;
  grid.steps.resize(count);
  const auto found = gates_.find(gate);
  const Memory* const memory = found == gates_.end() ? nullptr
                               : step == 1           ? &found->second.seconds
                                                     : &found->second.minutes;
  std::vector<std::pair<std::uint32_t, Sample>> samples;
  if (memory != nullptr) {
    memory->track.visit(
        [&samples](std::uint32_t at, const Sample& sample) { samples.emplace_back(at, sample); });
  }
  auto next = samples.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const auto back = static_cast<std::uint32_t>((count - 1 - i) * step);
    if (back > last) {  // Before the server was started.
      grid.steps[i].cell = Grid::Cell::not_sampled;
      continue;
    }
    const std::uint32_t at = last - back;
    while (next != samples.end() && next->first <= at) ++next;
    const bool is_dropped = memory != nullptr && at < memory->dropped_until;
    if (!was_sampled(at < step ? 0 : at - step + 1, at)) {
      grid.steps[i].cell = Grid::Cell::not_sampled;
    } else if (next != samples.begin()) {
      grid.steps[i] = {Grid::Cell::known, std::prev(next)->second};
    } else {
      grid.steps[i].cell = is_dropped ? Grid::Cell::dropped : Grid::Cell::not_known;
    }
  }
  return grid;
}

std::string History::answer(const Question& question, std::uint32_t tick,
                            std::int64_t epoch) const {
  const std::uint32_t step = resolution(question.span);
  const std::int64_t last = epoch + (tick - tick % step);
  const std::int64_t first = last - (question.span / step - 1) * std::int64_t{step};
  const auto wants = [&question](std::string_view column) {
    const auto& columns = question.columns;
    return columns.empty() || std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  std::string out = "{\"from\":";
  append_number(out, static_cast<std::uint64_t>(first));
  out += ",\"to\":";
  append_number(out, static_cast<std::uint64_t>(last));
  out += ",\"resolution_seconds\":";
  append_number(out, std::uint64_t{step});
  out += ",\"gates\":[";
  for (const std::string& name : question.gates) {
    const Grid grid = grid_of(name, question.span, tick);
    out += out.back() == '[' ? "{\"name\":" : ",{\"name\":";
    append_text(out, name);
    grid.append_missing(out, first);
    if (wants("in_use")) grid.append_level(out, "in_use", Sample::kInUse);
    if (wants("limit")) grid.append_level(out, "limit", Sample::kLimit);
    if (wants("waiting")) grid.append_level(out, "waiting", Sample::kWaiting);
    if (wants("granted")) grid.append_rate(out, "granted_per_second", Sample::kGranted);
    if (wants("refused")) grid.append_refused(out);
    if (wants("waits")) grid.append_waits(out);
    out += "}";
  }
  return out += "]}\n";
}

}  // namespace airlock::server

#include "dashboard/history.hpp"

#include <algorithm>
#include <functional>

namespace airlock::server {
namespace {

constexpr double kDecay = 0.999;
constexpr std::size_t kNode = 64;  // What a map needs besides what is in it.

// A gate that is gone: nobody holds, nobody waits.
Sample ended(Sample sample) {
  sample.values[Sample::kInUse] = 0;
  sample.values[Sample::kWaiting] = 0;
  return sample;
}

}  // namespace

void History::add(std::uint32_t tick, const std::vector<Named>& gates, std::uint32_t longest_gap) {
  note_sampled(tick, longest_gap);
  auto known = gates_.begin();
  const auto end_until = [&](std::string_view name) {
    for (; known != gates_.end() && (name.empty() || known->first < name); ++known)
      add_to(known->second, tick, ended(known->second.seconds.track.last()));
  };
  for (const Named& gate : gates) {
    end_until(gate.name);
    if (known == gates_.end() || known->first != gate.name) {
      if (bytes_ >= budget_) continue;
      known = gates_.try_emplace(known, std::string(gate.name));
    }
    add_to(known->second, tick, *gate.sample);
    ++known;
  }
  end_until({});
  if (tick / kMinute != last_tick_ / kMinute) end_minute(tick);
  last_tick_ = tick;
  bytes_ = 0;
  for (const auto& [name, gate] : gates_) bytes_ += bytes_of(name, gate);
  fit_budget(tick);
}

void History::note_sampled(std::uint32_t tick, std::uint32_t longest_gap) {
  if (sampled_.empty() || tick - sampled_.back().end > longest_gap) {
    sampled_.push_back({tick, tick});
  } else {
    sampled_.back().end = tick;
  }
  std::erase_if(sampled_, [tick](const Span& span) { return span.end + kMinutes < tick; });
}

void History::add_to(Gate& gate, std::uint32_t tick, const Sample& sample) {
  gate.activity = gate.activity * kDecay + (gate.seconds.track.add(tick, sample) ? 1 : 0);
  const Sample before = gate.minute;
  gate.minute = sample;
  for (const std::size_t level : {Sample::kInUse, Sample::kWaiting})
    gate.minute.values[level] = std::max(sample.values[level], before.values[level]);
}

void History::end_minute(std::uint32_t tick) {
  const std::uint32_t minute = tick - tick % kMinute;
  std::erase_if(gates_, [tick](const auto& each) {
    const Track& track = each.second.seconds.track;
    return track.last() == ended(track.last()) && track.last_change() + kMinutes < tick;
  });
  for (auto& [name, gate] : gates_) {
    gate.minutes.track.add(minute, gate.minute);
    gate.minute = {};
    if (tick > kSeconds) gate.seconds.track.drop_before(tick - kSeconds);
    if (tick > kMinutes) gate.minutes.track.drop_before(tick - kMinutes);
  }
}

std::size_t History::bytes_of(const std::string& name, const Gate& gate) noexcept {
  return kNode + sizeof gate + sizeof(std::string) + name.capacity() + gate.seconds.track.bytes() +
         gate.minutes.track.bytes();
}

std::size_t History::Memory::forget(std::uint32_t tick) {
  const std::size_t before = track.bytes();
  if (track.empty()) return 0;
  const Sample last = track.last();
  track.clear();
  track.add(tick, last);
  dropped_until = tick;
  return before - std::min(before, track.bytes());
}

void History::fit_budget(std::uint32_t tick) {
  if (bytes_ <= budget_) return;
  const std::size_t enough = budget_ - budget_ / 16;  // So that it is not done every second.
  std::vector<decltype(gates_)::iterator> quietest;
  for (auto each = gates_.begin(); each != gates_.end(); ++each) quietest.push_back(each);
  std::stable_sort(quietest.begin(), quietest.end(), [](const auto& a, const auto& b) {
    return a->second.activity < b->second.activity;
  });
  for (auto Gate::*const memory : {&Gate::seconds, &Gate::minutes}) {
    for (const auto& each : quietest) {
      if (bytes_ <= enough) return;
      bytes_ -= (each->second.*memory).forget(tick);
    }
  }
  for (const auto& each : quietest) {
    if (bytes_ <= enough) return;
    bytes_ -= bytes_of(each->first, each->second);
    gates_.erase(each);
  }
}

bool History::was_sampled(std::uint32_t from, std::uint32_t to) const {
  const auto span = std::partition_point(sampled_.begin(), sampled_.end(),
                                         [from](const Span& each) { return each.end < from; });
  return span != sampled_.end() && span->begin <= to;
}

}  // namespace airlock::server

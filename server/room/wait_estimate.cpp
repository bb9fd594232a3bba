#include "room/wait_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kWindow = 5min;      // Older grants say little.
constexpr auto kSpacing = 5s;       // Between samples that are kept.
constexpr double kMaxMinutes = 90;  // Longer waits are in hours, or in days.
constexpr double kMaxHours = 48;

// How a wait is said in one unit.
struct Unit {
  double minutes;
  std::string_view one, some, range;
};

std::string rounded(const Words& words, const Unit& unit, double low, double high) {
  const bool is_known = low == high;
  const auto whole = [](double number) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(number));
  };
  const auto last =
      whole(is_known ? std::round(high / unit.minutes) : std::ceil(high / unit.minutes));
  const auto first = is_known ? last : whole(std::floor(low / unit.minutes));
  if (first != last)
    return with(with(unit.range, "low", number_text(words, first)), "high",
                number_text(words, last));
  return first == 1 ? std::string(unit.one) : with(unit.some, "low", number_text(words, first));
}

}  // namespace

// Grants come at random times: the time of n of them varies by its root, and the pace is itself an estimate.
std::optional<WaitRange> expected_wait(std::uint32_t place, const Pace& pace) {
  if (pace.grants == 0 || pace.interval <= Duration(0) || place == 0) return std::nullopt;
  const double mean = static_cast<double>(pace.interval.count()) * place;
  const double spread =
      std::min(1.0, std::sqrt(1.0 / place + 1.0 / static_cast<double>(pace.grants)));
  const std::chrono::duration<double, std::micro> low(mean * std::max(0.3, 1 - spread));
  const std::chrono::duration<double, std::micro> high(mean * (1 + spread));
  return WaitRange{saturating_ceil(low), saturating_ceil(high)};
}

std::string wait_text(const Words& words, const std::optional<WaitRange>& wait) {
  if (!wait) return std::string(words.wait_unknown);
  const double low = std::chrono::duration<double, std::ratio<60>>(wait->low).count();
  const double high = std::chrono::duration<double, std::ratio<60>>(wait->high).count();
  constexpr double kHour = 60;
  if (high < 1) return std::string(words.wait_short);
  if (high <= kMaxMinutes) {
    return rounded(words, {1, words.wait_one_minute, words.wait_minutes, words.wait_minute_range},
                   low, high);
  }
  if (high <= kMaxHours * kHour) {
    return rounded(words, {kHour, words.wait_one_hour, words.wait_hours, words.wait_hour_range},
                   low, high);
  }
  return rounded(words, {24 * kHour, words.wait_one_day, words.wait_days, words.wait_day_range},
                 low, high);
}

void PaceMeter::add(TimePoint now, std::uint64_t granted) {
  if (!samples_.empty() && granted < samples_.back().granted) samples_.clear();  // Purged.
  // The last one is of now; those before it are spaced.
  if (samples_.size() > 1 && samples_.back().time - samples_[samples_.size() - 2].time < kSpacing)
    samples_.pop_back();
  samples_.push_back({now, granted});
  while (samples_.size() > 2 && now - samples_[1].time > kWindow) samples_.pop_front();
}

Pace PaceMeter::pace() const {
  if (samples_.size() < 2) return {};
  const std::uint64_t grants = samples_.back().granted - samples_.front().granted;
  if (grants == 0) return {};
  const auto time =
      std::chrono::duration_cast<Duration>(samples_.back().time - samples_.front().time);
  return {.interval = time / static_cast<std::int64_t>(grants), .grants = grants};
}

}  // namespace airlock::server

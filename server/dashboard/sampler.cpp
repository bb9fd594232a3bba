#include "dashboard/sampler.hpp"

#include <algorithm>
#include <utility>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kPeriod = 1s;
constexpr Seconds kLongestPeriod = 60s;
constexpr double kShare = 20;  // One part of so many may be spent asking.
constexpr auto kExamination = 60s;

std::int64_t epoch_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Sampler::Sampler(Store store, bool keeps_history)
    : store_(std::move(store)),
      keeps_history_(keeps_history),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Sampler::~Sampler() = default;

void Sampler::stop() { thread_.request_stop(); }

bool Sampler::watch(const std::weak_ptr<const void>& watcher, std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [](const Watcher& each) { return each.alive.expired(); });
  if (watchers_.size() >= kMaxWatchers) return false;
  watchers_.push_back({watcher, std::move(changed)});
  changed_.notify_all();
  return true;
}

SnapshotPtr Sampler::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::string Sampler::history(const History::Question& question) const {
  const auto now = Clock::now();
  const std::uint32_t tick = tick_of(now);
  const std::lock_guard lock(mutex_);
  return history_.answer(question, tick, epoch_seconds() - tick);
}

std::uint32_t Sampler::tick_of(Clock::time_point at) const {
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(at - began_).count());
}

bool Sampler::is_wanted() {
  if (keeps_history_) return true;
  std::erase_if(watchers_, [](const Watcher& each) { return each.alive.expired(); });
  return !watchers_.empty();
}

void Sampler::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return is_wanted(); })) return;
    }
    const auto begin = Clock::now();
    auto snapshot = look();
    period_ = std::clamp<Seconds>(kShare * (Clock::now() - begin), kPeriod, kLongestPeriod);
    snapshot->period_seconds = period_.count();
    publish(std::move(snapshot));
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stop, begin + std::chrono::duration_cast<Clock::duration>(period_),
                        [] { return false; });
  }
}

std::shared_ptr<Snapshot> Sampler::look() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->epoch_seconds = epoch_seconds();
  try {
    const std::vector<GateSummary> summaries = store_.survey();
    const auto at = Clock::now();
    take_in(*snapshot, summaries, at);
    examine(*snapshot);
    remember(*snapshot, at);
    last_look_ = at;
  } catch (const Error& error) {
    snapshot->failure = error.what();
    snapshot->findings = findings_;
    if (snapshot_ != nullptr) snapshot->rows = snapshot_->rows;
  }
  return snapshot;
}

void Sampler::take_in(Snapshot& snapshot, const std::vector<GateSummary>& summaries,
                      Clock::time_point at) {
  const bool has_last = snapshot_ != nullptr && last_look_ != Clock::time_point{};
  const Moment moment{.epoch_seconds = snapshot.epoch_seconds,
                      .since_last = has_last ? Seconds(at - last_look_).count() : 0};
  const std::vector<GateRowPtr> none;
  const auto& known = has_last ? snapshot_->rows : none;
  std::vector<Sample> samples;
  samples.reserve(summaries.size());
  snapshot.rows.reserve(summaries.size());
  std::size_t next = 0;
  for (const GateSummary& summary : summaries) {
    while (next < known.size() && known[next]->name < summary.gate.name) ++next;
    const bool is_known = next < known.size() && known[next]->name == summary.gate.name;
    const Sample* const last = is_known ? &samples_[next] : nullptr;
    samples.push_back(summary.unreadable.empty() || last == nullptr ? Sample::of(summary.gate)
                                                                    : *last);
    snapshot.rows.push_back(
        make_row(summary, samples.back(), moment, is_known ? known[next] : nullptr, last));
  }
  samples_ = std::move(samples);
}

void Sampler::examine(Snapshot& snapshot) {
  const auto now = Clock::now();
  if (last_examination_ == Clock::time_point{} || now - last_examination_ >= kExamination) {
    last_examination_ = now;
    findings_ = store_.examine();
    std::erase_if(findings_,
                  [](const Finding& each) { return each.level == Finding::Level::good; });
  }
  snapshot.findings = findings_;
}

void Sampler::remember(const Snapshot& snapshot, Clock::time_point at) {
  std::vector<History::Named> gates;
  gates.reserve(snapshot.rows.size());
  for (std::size_t i = 0; i < snapshot.rows.size(); ++i) {
    if (snapshot.rows[i]->unreadable.empty())
      gates.push_back({snapshot.rows[i]->name, &samples_[i]});
  }
  const auto longest_gap = static_cast<std::uint32_t>(2 * period_.count() + 1);
  const std::lock_guard lock(mutex_);
  history_.add(tick_of(at), gates, longest_gap);
}

void Sampler::publish(SnapshotPtr snapshot) {
  std::vector<Watcher> watchers;
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
    std::erase_if(watchers_, [](const Watcher& each) { return each.alive.expired(); });
    watchers = watchers_;
  }
  for (const Watcher& each : watchers) each.changed();
}

}  // namespace airlock::server

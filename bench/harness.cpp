#include "harness.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace airlock::bench {
namespace {

using std::chrono::nanoseconds;

nanoseconds now(Time time) {
  timespec read{};
  clock_gettime(time == Time::cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &read);
  return std::chrono::seconds(read.tv_sec) + nanoseconds(read.tv_nsec);
}

class Side {
 public:
  Side(std::unique_ptr<Subject> subject, Time time) : subject_(std::move(subject)), time_(time) {}

  // Also finds out how many operations make a batch: twice as many for as long as one takes too little.
  void warm_up(const Effort& effort) {
    const nanoseconds end = now(Time::wall) + effort.warm_up;
    do {
      if (run_batch() < effort.batch) batch_ *= 2;
    } while (now(Time::wall) < end);
  }

  double time_per_operation() {
    const nanoseconds took = run_batch();
    return static_cast<double>(took.count()) / static_cast<double>(batch_);
  }

  void check() { subject_->check(done_); }

 private:
  nanoseconds run_batch() {
    const nanoseconds start = now(time_);
    subject_->run(batch_);
    done_ += batch_;
    const nanoseconds end = now(time_);
    return subject_->took().value_or(end - start);
  }

  std::unique_ptr<Subject> subject_;
  Time time_;
  std::uint64_t batch_ = 1;
  std::uint64_t done_ = 0;
};

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : std::midpoint(samples[half - 1], samples[half]);
}

}  // namespace

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("this should hold and does not: ") + what);
}

Result measure(const Row& row, const Effort& usual) {
  const Effort& effort = row.effort ? *row.effort : usual;
  const Pinned pinned(row.cores);
  Side subject(row.subject(), row.time);
  Side reference(row.reference(), row.time);
  subject.warm_up(effort);
  reference.warm_up(effort);

  std::vector<double> values;
  std::vector<double> references;
  std::vector<double> ratios;
  constexpr std::size_t kFew = 11;
  const nanoseconds end = now(Time::wall) + effort.limit;
  while (ratios.size() < effort.rounds && (ratios.size() < kFew || now(Time::wall) < end)) {
    values.push_back(subject.time_per_operation());
    references.push_back(reference.time_per_operation());
    ratios.push_back(values.back() / references.back());
  }
  subject.check();
  reference.check();

  return {.name = row.name,
          .against = row.against,
          .value = median(values),
          .reference = median(references),
          .ratio = median(ratios),
          .aim = row.aim};
}

}  // namespace airlock::bench

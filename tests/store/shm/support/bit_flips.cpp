#include "store/shm/support/bit_flips.hpp"

#include <unistd.h>

#include <chrono>
#include <random>

#include "store/shm/support/segment_trial.hpp"
#include "store/support/child.hpp"

namespace airlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Progress {
  std::atomic<std::uint64_t> at, flips, errors;
  std::atomic<std::int64_t> longest;
};

}  // namespace

BitFlips::Result BitFlips::run() const {
  SharedValue<Progress> progress;
  Child child([&] {
    alarm(0);
    SegmentTrial trial;
    std::mt19937_64 random(seed);
    for (std::uint64_t at = random() % stride; at < trial.size(); at += stride) {
      progress->at = at;
      const auto began = SteadyClock::now();
      const auto flipped =
          static_cast<char>(trial.byte(at) ^ static_cast<char>(1U << (random() % 8)));
      trial.write(at, {&flipped, 1});
      progress->errors += trial.use();
      trial.restore();
      ++progress->flips;
      const auto took =
          std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began);
      if (took.count() > progress->longest) progress->longest = took.count();
    }
  });
  Result result;
  const bool well = child.wait();
  result.flips = progress->flips;
  result.errors = progress->errors;
  if (!well) result.wrong = "it crashed with a bit flipped at byte " + std::to_string(progress->at);
  if (progress->longest > 20'000)
    result.wrong += " took " + std::to_string(progress->longest) + " ms";
  return result;
}

}  // namespace airlock

#include <chrono>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/testing.hpp"
#include "rows.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kLeases = 10'000;
constexpr Duration kTtl = 30s;
constexpr Duration kStep = 50ms;

// One operation: a second in the life of many leases, stepped by a clock. Their keeper renews each at a third of its ttl.
class KeptLeases final : public Subject {
 public:
  KeptLeases() {
    for (std::uint32_t i = 0; i < kLeases; ++i) {
      leases_.push_back(airlock_.try_enter().value());
      clock_.advance(kTtl / 3 / kLeases);  // Evenly spread, as those of a busy day.
    }
  }

  void run(std::uint64_t operations) override {
    for (Duration passed{0}; passed < operations * 1s; passed += kStep) {
      while (clock_.waiting() == 0) std::this_thread::yield();
      clock_.advance(kStep);
    }
    while (clock_.waiting() == 0) std::this_thread::yield();
  }
  void check(std::uint64_t /*operations*/) override {
    for (const Lease& lease : leases_) require(lease.valid(), "every lease is kept");
  }

 private:
  internal::SteppedClock clock_;
  Store store_ = testing::memory_store(clock_);
  Airlock airlock_{store_, "erp", {.limit = kLeases, .ttl = kTtl}};
  std::vector<Lease> leases_;
};

// One operation: a hundredth of a second of work.
class OnePercent final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    const auto end = std::chrono::steady_clock::now() + operations * 10ms;
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  void check(std::uint64_t /*operations*/) override {}
};

}  // namespace

void add_keeper_rows(std::vector<Row>& rows) {
  rows.push_back({.name = "memory: 10 000 leases at ttl 30 s kept for a second",
                  .against = "1 % of a core for a second",
                  .aim = 1.0,
                  .subject = [] { return std::make_unique<KeptLeases>(); },
                  .reference = [] { return std::make_unique<OnePercent>(); },
                  .time = Time::wall});
}

}  // namespace airlock::bench

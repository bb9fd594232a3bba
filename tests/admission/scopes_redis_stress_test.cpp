#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "model/support/trial_seed.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/child.hpp"
#include "store/support/cpu_wait.hpp"
#include "support/chaos.hpp"

// As many threads as a gate has permits end scopes, by exceptions and without, while replies and
// requests are lost and connections cut. Each has at most one permit, so that no question may be
// refused, whatever became of the releases and of the questions before it.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using Fault = testing::ChaosProxy::Fault;

constexpr Duration kTimeout = 200ms;
constexpr Duration kSlack = 50ms;
constexpr std::uint32_t kThreads = 4;

struct Failed : std::runtime_error {
  Failed() : std::runtime_error("work failed") {}
};

class ScopeStorm {
 public:
  testing::ChaosRow run(std::chrono::seconds time) {
    {
      std::vector<std::jthread> threads;
      const auto end = std::chrono::steady_clock::now() + time;
      for (std::uint32_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([this, end, i] {
          for (std::uint32_t n = i; std::chrono::steady_clock::now() < end; ++n) visit(n % 2 == 0);
        });
      }
      while (std::chrono::steady_clock::now() < end) make_trouble();
      proxy_.set(Fault::none);
    }
    const bool is_free =
        becomes_true([this] { return direct_.look("gate")->counts.holders == 0; }, 5s);
    std::printf("%llu entered, %llu not decided\n", static_cast<unsigned long long>(entered_),
                static_cast<unsigned long long>(failed_));
    return {.scenario = "scopes that throw (redis)",
            .faults = proxy_.faults() + cuts_,
            .operations = entered_ + failed_,
            .leaks = refused_ + (is_free ? 0U : 1U),
            .hangs = entered_ == 0 ? 1U : 0U,
            .late_returns = late_};
  }

 private:
  void make_trouble() {
    constexpr std::array kFaults = {Fault::lose_reply, Fault::hold_reply, Fault::hold_request,
                                    Fault::single_bytes, Fault::none};
    proxy_.set(kFaults.at(random_() % kFaults.size()), static_cast<unsigned>(1 + random_() % 20));
    if (random_() % 4 == 0) {
      proxy_.cut_all();
      ++cuts_;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 50));
  }

  // To ask takes a timeout at most, and so does it to give back.
  void visit(bool throws) {
    const auto kept_before = testing::cpu_wait();
    const auto start = std::chrono::steady_clock::now();
    try {
      if (throws) {
        bulkhead_.call([] { throw Failed(); });
      } else if (bulkhead_.try_acquire()) {
        ++entered_;
      } else {
        ++refused_;
      }
    } catch (const Failed&) {
      ++entered_;
    } catch (const BulkheadFullError&) {
      ++refused_;
    } catch (const SealAcquiringError&) {
      ++failed_;
      std::this_thread::sleep_for(1ms);
      return;
    }
    const auto took =
        std::chrono::steady_clock::now() - start - (testing::cpu_wait() - kept_before);
    if (took > (throws ? 2 : 1) * kTimeout + kSlack) ++late_;
  }

  testing::RedisServer server_;
  std::mt19937_64 random_{trial::trial_seed()};
  testing::ChaosProxy proxy_{server_.socket(), server_.folder(), random_()};
  const Store store_ = redis::make_store({.address = proxy_.address(), .timeout = kTimeout});
  const Store direct_ = redis::make_store({.address = server_.address()});
  const Bulkhead bulkhead_{store_, "gate", {.limit = kThreads}};
  std::uint64_t cuts_ = 0;
  std::atomic<std::uint64_t> entered_ = 0, refused_ = 0, failed_ = 0, late_ = 0;
};

TEST(ScopeStress, NobodyIsRefusedForWhatItsProcessGaveBack) {
  ScopeStorm storm;
  storm.run(testing::takes_its_time() ? 600s : 10s).report();
}

}  // namespace
}  // namespace airlock

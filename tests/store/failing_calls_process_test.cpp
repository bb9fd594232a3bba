#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <map>

#include "admission/support/failing_uses.hpp"
#include "contract/support/store_under_test.hpp"
#include "store/redis/support/failing_steps.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/failing_call.hpp"
#include "store/support/temp_dir.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/failures.hpp"
#endif

// Every system call of every step is refused once.

namespace airlock {
namespace {

struct Seen {
  static constexpr std::size_t kMost = 4096;
  std::array<char, kMost> before{}, after{};
  FailedStep::Said said{};
};

void copy(const std::string& text, std::array<char, Seen::kMost>& to) {
  text.copy(to.data(), to.size() - 1);
}

// In a child: only the thread that does the step is watched.
FailingCall::Result run(const contract::StoreFactory& factory, const FailingStep& step,
                        const FailingCall& failing, FailedStep& result) {
  SharedValue<Seen> seen;
  const FailingCall::Result traced = failing.run([&] {
    const auto under_test = factory.make();
    const Store& store = under_test->store();
    step.prepare(store);
    copy(state_of(store), seen->before);
    FailingCall::mark_begin();
    seen->said = said_by(step.step, store);
    FailingCall::mark_end();
    copy(state_of(store), seen->after);
  });
  result.before = seen->before.data();
  result.after = seen->after.data();
  result.said = seen->said;
  return traced;
}

class FailingCalls : public ::testing::TestWithParam<contract::StoreFactory> {};

TEST_P(FailingCalls, LeaveTheStoreAsBeforeOrAsComplete) {
  (void)GetParam().make();  // A server that it needs is there before, and shared by the children.
  std::uint64_t trials = 0;
  for (const FailingStep& step : failing_steps()) {
    SCOPED_TRACE(step.name);
    FailedStep complete;
    const FailingCall::Result whole = run(GetParam(), step, {}, complete);
    ASSERT_TRUE(whole.ended_well);
    for (const int error : {ENOMEM, EINTR}) {
      for (std::uint64_t k = 1; k <= whole.calls; ++k) {
        FailedStep failed;
        const FailingCall::Result result = run(GetParam(), step, {.k = k, .error = error}, failed);
        failed.complete = complete.after;
        EXPECT_TRUE(result.ended_well) << "call " << result.failed << " with error " << error;
        EXPECT_EQ(failed.wrong(), "") << "call " << result.failed << " with error " << error;
        ++trials;
      }
    }
  }
  std::printf("%llu calls refused\n", static_cast<unsigned long long>(trials));
}

// A store on a clock that runs: what waits asks again when a call was lost.
struct RunningStore {
  std::string name;
  std::function<Store(const TempDir& dir)> open;
};

const RunningStore kRunningStores[] = {
    {"memory", [](const TempDir& /*dir*/) { return open_store("memory:"); }},
    {"shm",
     [](const TempDir& dir) { return shm::make_store({.dir = dir.path()}, Clock::system()); }},
#ifdef AIRLOCK_WITH_REDIS
    {"redis",
     [](const TempDir& /*dir*/) {
       return redis::make_store({.address = testing::RedisServer::shared().address(),
                                 .prefix = testing::unused_prefix()});
     }},
#endif
};

class FailingCallsOfAUse : public ::testing::TestWithParam<RunningStore> {
 protected:
  static FailingCall::Result run(const FailingUse& use, const FailingCall& failing) {
    const TempDir dir;
    SharedValue<std::array<char, Seen::kMost>> wrong;
    const FailingCall::Result traced = failing.run([&] {
      const Store store = GetParam().open(dir);
      FailingCall::mark_begin();
      std::string found = wrongly_said_by(use, store);
      FailingCall::mark_end();
      found += left_behind_by(use, store);
      copy(found, *wrong);
    });
    EXPECT_TRUE(traced.ended_well) << "call " << traced.failed << ", status " << traced.status;
    EXPECT_STREQ(wrong->data(), "") << "call " << traced.failed;
    return traced;
  }
};

// The same for what is built on a store: keepers, waiters, mailboxes. Their threads and descriptors
// are among the calls.
TEST_P(FailingCallsOfAUse, LeaveNothingBehind) {
  { const Store store = GetParam().open(TempDir()); }  // Its server is there before.
  std::uint64_t trials = 0;
  std::map<long, int> refused;
  for (const FailingUse& use : failing_uses()) {
    SCOPED_TRACE(use.name);
    const std::uint64_t calls = run(use, {}).calls;
    for (std::uint64_t k = 1; k <= calls; ++k, ++trials) {
      ++refused[run(use, {.k = k, .error = ENOMEM}).failed];
    }
  }
  EXPECT_GT(refused[SYS_clone3] + refused[SYS_clone], 0) << "threads are among them";
  EXPECT_GT(refused[SYS_eventfd2], 0) << "and descriptors";
  std::printf("%llu calls refused\n", static_cast<unsigned long long>(trials));
}

INSTANTIATE_TEST_SUITE_P(Stores, FailingCallsOfAUse, ::testing::ValuesIn(kRunningStores),
                         [](const auto& store) { return store.param.name; });

INSTANTIATE_TEST_SUITE_P(Stores, FailingCalls,
                         ::testing::ValuesIn(contract::stores_on_one_server()),
                         [](const auto& store) { return store.param.name; });

}  // namespace
}  // namespace airlock

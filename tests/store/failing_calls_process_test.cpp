#include <gtest/gtest.h>

#include <cerrno>

#include "contract/support/store_under_test.hpp"
#include "store/support/child.hpp"
#include "store/support/failing_call.hpp"
#include "store/support/failing_steps.hpp"

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
    Store& store = *under_test->store();
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

INSTANTIATE_TEST_SUITE_P(Stores, FailingCalls,
                         ::testing::ValuesIn(contract::stores_on_one_server()),
                         [](const auto& store) { return store.param.name; });

}  // namespace
}  // namespace airlock

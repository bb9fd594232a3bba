#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "airlock.h"
#include "store/support/temp_dir.hpp"

namespace airlock::c_test {

// Long enough for anything that must happen, however busy the machine is.
inline constexpr int kSoonMs = 120'000;
inline constexpr std::int64_t kSoon = kSoonMs * AIRLOCK_MILLISECOND;

inline airlock_text text(std::string_view view) { return {view.data(), view.size()}; }
inline std::string string_of(airlock_text text) { return {text.data, text.size}; }

// Handles that free themselves.
template <auto free_it>
struct Free {
  template <typename T>
  void operator()(T* handle) const noexcept {
    free_it(handle);
  }
};
using Store = std::unique_ptr<airlock_store, Free<airlock_store_free>>;
using Gate = std::unique_ptr<airlock_gate, Free<airlock_gate_free>>;
using Keyed = std::unique_ptr<airlock_keyed, Free<airlock_keyed_free>>;
using Isolation = std::unique_ptr<airlock_isolation, Free<airlock_isolation_free>>;
using Lease = std::unique_ptr<airlock_lease, Free<airlock_lease_free>>;
using Seal = std::unique_ptr<airlock_seal, Free<airlock_seal_free>>;
using Mailbox = std::unique_ptr<airlock_mailbox, Free<airlock_mailbox_free>>;
using List = std::unique_ptr<airlock_list, Free<airlock_list_free>>;
using View = std::unique_ptr<airlock_view, Free<airlock_view_free>>;

// Passes a handle to a function that makes it: open(..., Into(store), ...).
template <typename Owner>
class Into {
 public:
  explicit Into(Owner& owner) : owner_(owner) {}
  Into(const Into&) = delete;
  Into& operator=(const Into&) = delete;
  ~Into() { owner_.reset(made_); }
  operator typename Owner::pointer *() { return &made_; }  // NOLINT(google-explicit-constructor)

 private:
  Owner& owner_;
  typename Owner::pointer made_ = nullptr;
};

struct Error : airlock_error {
  Error() : airlock_error(AIRLOCK_ERROR_INIT) {}
};

struct Answer : airlock_answer {
  Answer() : airlock_answer() { size = sizeof(airlock_answer); }
};

template <typename Struct>
Struct sized() {
  Struct result{};
  result.size = sizeof result;
  return result;
}

inline airlock_gate_options limit_of(std::uint32_t limit) {
  auto options = sized<airlock_gate_options>();
  options.limit = limit;
  return options;
}

// Until it holds, or until what must happen has not.
inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kSoonMs);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

inline bool has_event(const airlock_mailbox* mailbox, int at_most_ms = 0) {
  pollfd ready{.fd = airlock_mailbox_fd(mailbox), .events = POLLIN, .revents = 0};
  return poll(&ready, 1, at_most_ms) == 1;
}

inline Mailbox new_mailbox() {
  Mailbox mailbox;
  Error error;
  EXPECT_EQ(airlock_mailbox_open(Into(mailbox), &error), AIRLOCK_DONE) << error.text;
  return mailbox;
}

struct Event : airlock_event {
  Event() : airlock_event(sized<airlock_event>()) {}
  Answer answer;
  Error error;
};

// Waits for one; its lease is the caller's.
inline Event next_event(airlock_mailbox* mailbox) {
  Event event;
  EXPECT_TRUE(has_event(mailbox, kSoonMs));
  EXPECT_EQ(airlock_mailbox_next(mailbox, &event, &event.answer, &event.error), AIRLOCK_DONE);
  return event;
}

// The stores that a test runs over: those of the machine, or the one that the environment names.
inline std::vector<std::string> stores() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  if (const char* const named = std::getenv("AIRLOCK_C_TEST_STORE")) return {named};
  return {"memory:", "shm:"};
}

// A store, and what tests do with it all the time.
class StoreTest : public testing::TestWithParam<std::string> {
 protected:
  StoreTest() {
    std::string uri = GetParam();
    if (uri == "shm:") uri = "shm:c?dir=" + dir_.path() + "&size=64M";
    Error error;
    EXPECT_EQ(airlock_store_open(text(uri), Into(store_), &error), AIRLOCK_DONE) << error.text;
  }

  // Of this test alone: a Redis server is shared.
  [[nodiscard]] static std::string own(std::string_view name) {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    std::string prefix = test->name();
    std::replace(prefix.begin(), prefix.end(), '/', '-');
    return prefix + "." + std::string(name);
  }

  [[nodiscard]] airlock_store* store() const { return store_.get(); }

  [[nodiscard]] Gate gate(std::string_view name, const airlock_gate_options& options) const {
    Gate made;
    Error error;
    EXPECT_EQ(airlock_gate_open(store(), text(own(name)), &options, Into(made), &error),
              AIRLOCK_DONE)
        << error.text;
    return made;
  }

  [[nodiscard]] static Lease enter(const Gate& gate, std::int64_t max_wait = 0) {
    Lease lease;
    Error error;
    EXPECT_EQ(airlock_enter(gate.get(), nullptr, max_wait, Into(lease), nullptr, &error),
              AIRLOCK_DONE)
        << error.text;
    return lease;
  }

  [[nodiscard]] airlock_counts counts(std::string_view name) const {
    auto counts = sized<airlock_counts>();
    Error error;
    EXPECT_EQ(airlock_count(store(), text(own(name)), &counts, &error), AIRLOCK_DONE) << error.text;
    return counts;
  }

  [[nodiscard]] bool is_waiting(std::string_view name, std::uint32_t waiting = 1) const {
    return eventually([&] { return counts(name).waiting == waiting; });
  }

 private:
  TempDir dir_;
  Store store_;
};

inline std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find_first_of(":+"));
}

}  // namespace airlock::c_test

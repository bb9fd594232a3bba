#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/store.hpp"
#include "contract/support/describe.hpp"
#include "contract/support/question.hpp"
#include "contract/support/store_under_test.hpp"

namespace airlock::contract {

using namespace std::chrono_literals;

// The line of the test that called a helper.
struct Where {
  explicit Where(const char* in_file = __builtin_FILE(), int at_line = __builtin_LINE())
      : file(in_file), line(at_line) {}
  const char* file;
  int line;
};

// What every store promises; a test is a sentence of that promise. Everybody asks at the gate
// "gate", limit 1, ttl 30 s, unless every_visitor or the question itself says otherwise.
//
//   const Token ann = enters("ann").token;
//   waits("bob");
//   EXPECT_TRUE(releases(ann));
//   enters("bob");
//
// A source with a suite of its own (class Claims : public StoreContract) instantiates it; StoreContract itself is.
class StoreContract : public ::testing::TestWithParam<StoreFactory> {
 public:
  // What the questions of visitor() and the short forms start from.
  Question every_visitor{"everyone"};

 protected:
  [[nodiscard]] const Store& store() { return store_; }
  [[nodiscard]] Question visitor(std::string_view name) const;

  // Each asks the store and expects one kind of answer. What is not that kind fails the test at the
  // caller's line.
  [[nodiscard]] Answer ask(const Question& question) { return store().admit(question.request()); }
  Granted enters(const Question& question, Where where = Where());   // Granted anew.
  Granted repeats(const Question& question, Where where = Where());  // Granted, as before.
  Queued waits(Question question, Where where = Where());            // Queued; joins the line.
  Refused is_refused(const Question& question, Reason reason, Where where = Where());

  Granted enters(std::string_view name, Where where = Where()) {
    return enters(visitor(name), where);
  }
  Granted repeats(std::string_view name, Where where = Where()) {
    return repeats(visitor(name), where);
  }
  Queued waits(std::string_view name, Where where = Where()) { return waits(visitor(name), where); }
  Refused is_refused(std::string_view name, Reason reason, Where where = Where()) {
    return is_refused(visitor(name), reason, where);
  }

  bool is_marked_absent(std::string_view name) {
    return store().mark_absent(gate(), VisitorId::named(name));
  }
  bool leaves(std::string_view name) { return store().leave(gate(), VisitorId::named(name)); }
  bool releases(const Token& token) { return store().release(token); }

  void after(Duration duration) { under_test_->advance(duration); }
  void until_multiple_of(Duration period);  // Of the store's time.
  void wall_jumps(Duration by) { under_test_->jump_wall(by); }
  void deliver_calls() { under_test_->deliver_calls(); }
  [[nodiscard]] Instant wall() { return under_test_->wall(); }

  [[nodiscard]] GateName gate() const { return every_visitor.gate(); }
  [[nodiscard]] GateView look(Where where = Where()) { return look(gate(), where); }
  [[nodiscard]] GateView look(const GateName& gate, Where where = Where());
  [[nodiscard]] bool knows(const GateName& gate) { return store().look(gate).has_value(); }
  [[nodiscard]] std::vector<std::string> holders() { return holders(gate()); }  // Oldest first.
  [[nodiscard]] std::vector<std::string> holders(const GateName& gate);
  [[nodiscard]] std::vector<std::string> handed();  // Those of them that have not claimed.
  [[nodiscard]] std::vector<std::string> line() { return line(gate()); }
  [[nodiscard]] std::vector<std::string> line(const GateName& gate);  // In the order of service.

 private:
  std::unique_ptr<StoreUnderTest> under_test_ = GetParam().make();
  Store store_ = under_test_->store();
};

[[nodiscard]] std::string name_of_store(const ::testing::TestParamInfo<StoreFactory>& info);

// Durations with readable failures.
#define EXPECT_LASTS(actual, expected) \
  EXPECT_EQ(to_text(::airlock::Duration{actual}), to_text(::airlock::Duration{expected}))

}  // namespace airlock::contract

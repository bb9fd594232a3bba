#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "lincheck/support/check.hpp"

namespace airlock::lincheck {

// What is left of a wrong history when everything is forgotten that it is wrong without.
//
// Nothing is just removed: without the grant every release would be wrong. The answer of an operation
// is forgotten instead, so that it may have happened or not. If the rest is wrong even so, then that
// operation has no part in it.
template <typename Model>
class Minimal {
 public:
  Minimal(const Model& model, History wrong)
      : model_(model), whole_(std::move(wrong)), history_(whole_) {
    std::ranges::stable_sort(history_, {}, &Operation::called);
    cut_end();
    while (forget_some()) {
    }
  }

  // The operations that matter.
  [[nodiscard]] History operations() const {
    History answered;
    std::ranges::copy_if(history_, std::back_inserter(answered), &Operation::is_answered);
    return answered;
  }

  [[nodiscard]] std::string text() const {
    const History rest = operations();
    return lincheck::text(rest, whole_) + "  and " + std::to_string(history_.size() - rest.size()) +
           " others, of which each may have happened or not\n";
  }

 private:
  static void forget(Operation& operation) { operation.returned = kNever; }

  // The more is forgotten, the more there is to try: what takes too long is kept.
  [[nodiscard]] bool is_wrong(const History& history) const {
    return check(model_, history, kMaxStates / 10) == Verdict::wrong;
  }
  bool keep_if_wrong(History candidate) {
    if (!is_wrong(candidate)) return false;
    history_ = std::move(candidate);
    return true;
  }

  // The history as it was when an answer came: what was called later is not there yet.
  [[nodiscard]] History until(Time end) const {
    History before;
    for (Operation operation : history_) {
      if (operation.called > end) break;
      if (operation.returned > end) forget(operation);
      before.push_back(operation);
    }
    return before;
  }

  void cut_end() {
    std::set<Time> ends;
    for (const Operation& operation : history_) ends.insert(operation.returned);
    ends.erase(kNever);
    for (const Time end : ends) {
      if (keep_if_wrong(until(end))) return;
    }
  }

  bool forget(Result result) {
    bool smaller = false;
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (!history_[i].is_answered() || history_[i].result != result) continue;
      History candidate = history_;
      forget(candidate[i]);
      smaller = keep_if_wrong(std::move(candidate)) || smaller;
    }
    return smaller;
  }

  // Grants last: they tell the story.
  bool forget_some() {
    using enum Result;
    bool smaller = false;
    for (const Result result : {seen, no, refused, repeated, queued, yes, granted, odd}) {
      smaller = forget(result) || smaller;
    }
    return smaller;
  }

  const Model& model_;
  const History whole_;
  History history_;
};

}  // namespace airlock::lincheck

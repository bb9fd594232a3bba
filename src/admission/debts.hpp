#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "store/backend.hpp"

namespace airlock::internal {

// What is to be given back, though nobody waits for it: many together, and again until it works. What
// has failed comes after the rest, so that one server that is down keeps back nothing of the others.
//
// Takes the mutex of its owner, who can so look at next() and at its own affairs in one moment.
class Debts {
 public:
  Debts(Backend& store, base::Mutex& mutex) noexcept : store_(store), mutex_(mutex) {}

  // Pointless after `until`, when the store has ended it by itself. Fence 0: whatever the visitor
  // has at the gate.
  void add(const Token& token, Instant until) noexcept;

  // What can be paid now. False: that was nothing.
  bool pay();

  // For at most so long.
  void pay_at_last(Duration at_most);

  // REQUIRES: the mutex.
  [[nodiscard]] Instant next() const noexcept {
    if (!debts_.empty()) return Instant{0};
    return failed_.empty() ? kForever : next_payment_;
  }
  [[nodiscard]] bool all_paid() const noexcept { return unpaid_ == 0; }

 private:
  struct Debt {
    Token token;
    Instant until;
    bool is_noted;
  };

  [[nodiscard]] std::vector<ReleaseItem> take();
  bool put_back(const std::vector<ReleaseItem>& items);

  Backend& store_;
  base::Mutex& mutex_;
  std::deque<Debt> debts_;
  std::deque<Debt> failed_;
  std::vector<Debt> paying_;
  std::size_t unpaid_ = 0;   // With those that are being paid.
  Instant next_payment_{0};  // Of those that have failed.
};

}  // namespace airlock::internal

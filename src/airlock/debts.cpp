#include "airlock/debts.hpp"

#include <mutex>
#include <thread>

#include "airlock/error.hpp"

namespace airlock::keeping {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(100);

}  // namespace

void Debts::add(const Token& token, Instant until) noexcept {
  const std::lock_guard lock(mutex_);
  debts_.push_back({token, until});
  ++unpaid_;
}

// False: the store fails, and it is worth another try.
bool Debts::pay(const Debt& debt) noexcept {
  try {
    store_.release(debt.token);
  } catch (const InvalidArgument&) {
    return true;
  } catch (const Error&) {
    return store_.clock().now() >= debt.until;
  }
  return true;
}

// What comes next, if its time has come.
std::optional<Debts::Debt> Debts::take() {
  const std::lock_guard lock(mutex_);
  std::deque<Debt>& from = debts_.empty() ? failed_ : debts_;
  if (from.empty() || (&from == &failed_ && store_.clock().now() < next_payment_)) return {};
  const Debt debt = from.front();
  from.pop_front();
  return debt;
}

bool Debts::pay() {
  bool any = false;
  while (const auto debt = take()) {
    const bool paid = pay(*debt);
    any = any || paid;
    const std::lock_guard lock(mutex_);
    if (paid) {
      --unpaid_;
    } else {
      failed_.push_back(*debt);
      next_payment_ = store_.clock().now() + kRetry;
    }
  }
  return any;
}

// Real time: whoever steps a clock is not here to do it.
void Debts::pay_at_last(Duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  debts_.insert(debts_.end(), failed_.begin(), failed_.end());
  while (!debts_.empty() && std::chrono::steady_clock::now() < end) {
    const Debt debt = debts_.front();
    debts_.pop_front();
    if (pay(debt)) continue;
    debts_.push_back(debt);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace airlock::keeping

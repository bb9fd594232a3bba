#include "airlock/debts.hpp"

#include <mutex>
#include <optional>
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

bool Debts::pay_first() {
  std::optional<Debt> debt;
  {
    const std::lock_guard lock(mutex_);
    if (debts_.empty() || store_.clock().now() < next_payment_) return false;
    debt = debts_.front();
    debts_.pop_front();
  }
  const bool paid = pay(*debt);
  const std::lock_guard lock(mutex_);
  if (paid) {
    --unpaid_;
  } else {
    debts_.push_front(*debt);
    next_payment_ = store_.clock().now() + kRetry;
  }
  return paid;
}

bool Debts::pay() {
  bool any = false;
  while (pay_first()) any = true;
  return any;
}

// Real time: whoever steps a clock is not here to do it.
void Debts::pay_at_last(Duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!debts_.empty() && std::chrono::steady_clock::now() < end) {
    if (pay(debts_.front())) {
      debts_.pop_front();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

}  // namespace airlock::keeping

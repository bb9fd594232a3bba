#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "airlock/testing.hpp"
#include "base/locks.hpp"
#include "store/forwarding_backend.hpp"

namespace airlock::testing {

class FaultyStore::Faults final : public internal::ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

  void fail_next(std::size_t steps, StoreError::Kind kind) {
    const base::LockGuard guard(mutex_);
    failures_ = steps;
    failure_kind_ = kind;
  }
  void drop_reply_next(std::size_t steps) {
    const base::LockGuard guard(mutex_);
    dropped_replies_ = steps;
  }
  void down(bool down) {
    const base::LockGuard guard(mutex_);
    down_ = down;
  }
  void act_remote() noexcept { is_remote_ = true; }

  [[nodiscard]] bool lose(const Token& token) {
    return inner().holds(token) && inner().revoke(token.gate, token.visitor, Revoke::now) > 0;
  }

  [[nodiscard]] std::size_t calls() const {
    const base::LockGuard guard(mutex_);
    return std::accumulate(calls_.begin(), calls_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& entry) { return sum + entry.second; });
  }
  [[nodiscard]] std::size_t calls(std::string_view step) const {
    const base::LockGuard guard(mutex_);
    const auto found = calls_.find(step);
    return found == calls_.end() ? 0 : found->second;
  }

  [[nodiscard]] bool is_local() const noexcept override {
    return !is_remote_ && inner().is_local();
  }
  void collect() override { inner().collect(); }
  [[nodiscard]] std::vector<Finding> examine() override { return inner().examine(); }

 protected:
  void before(std::string_view step) override {
    const base::LockGuard guard(mutex_);
    ++calls_[std::string(step)];
    if (down_) fail(step, StoreError::Kind::unavailable);
    if (failures_ > 0) {
      --failures_;
      fail(step, failure_kind_);
    }
  }

  void after(std::string_view step) override {
    const base::LockGuard guard(mutex_);
    if (dropped_replies_ == 0) return;
    --dropped_replies_;
    throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::unknown,
                     "FaultyStore: the reply to " + std::string(step) + " was set to be lost");
  }

 private:
  [[noreturn]] static void fail(std::string_view step, StoreError::Kind kind) {
    throw StoreError(kind, StoreError::Outcome::nothing_happened,
                     "FaultyStore: " + std::string(step) + " was set to fail");
  }

  mutable base::StdMutex mutex_;
  std::atomic<bool> is_remote_ = false;
  bool down_ AIRLOCK_GUARDED_BY(mutex_) = false;
  std::size_t failures_ AIRLOCK_GUARDED_BY(mutex_) = 0;
  StoreError::Kind failure_kind_ AIRLOCK_GUARDED_BY(mutex_) = StoreError::Kind::unavailable;
  std::size_t dropped_replies_ AIRLOCK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::size_t, std::less<>> calls_ AIRLOCK_GUARDED_BY(mutex_);
};

FaultyStore::FaultyStore(const Store& inner)
    : FaultyStore(std::make_shared<Faults>(internal::backend_of(inner))) {}
FaultyStore::FaultyStore(const std::shared_ptr<Faults>& faults) : Store(faults), faults_(faults) {}

void FaultyStore::fail_next(std::size_t steps, StoreError::Kind kind) const {
  faults_->fail_next(steps, kind);
}
void FaultyStore::drop_reply_next(std::size_t steps) const { faults_->drop_reply_next(steps); }
void FaultyStore::down(bool down) const { faults_->down(down); }
void FaultyStore::act_remote() const noexcept { faults_->act_remote(); }
bool FaultyStore::lose(const Token& token) const { return faults_->lose(token); }
std::size_t FaultyStore::calls() const { return faults_->calls(); }
std::size_t FaultyStore::calls(std::string_view step) const { return faults_->calls(step); }

}  // namespace airlock::testing

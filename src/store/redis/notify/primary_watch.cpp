#include "store/redis/notify/primary_watch.hpp"

#include "airlock/error.hpp"

namespace airlock::redis {
namespace {

constexpr auto kBetweenAttempts = std::chrono::seconds(5);

}  // namespace

bool PrimaryWatch::has_changed() {
  if (!sentinels_) return false;
  try {
    if (connection_) return hears_of_change();
    connect();
  } catch (const StoreError&) {
    connection_.reset();
  }
  return false;
}

void PrimaryWatch::connect() {
  const auto now = Deadline::Clock::now();
  if (now < next_attempt_) return;
  next_attempt_ = now + kBetweenAttempts;
  connection_ = sentinels_->listen(Deadline(timeout_));
}

bool PrimaryWatch::hears_of_change() {
  connection_->receive();
  while (const auto message = connection_->next()) {
    if (!sentinels_->is_change(*message)) continue;
    connection_.reset();
    return true;
  }
  return false;
}

}  // namespace airlock::redis

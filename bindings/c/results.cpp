#include <chrono>
#include <stdexcept>
#include <utility>

#include "internal.hpp"

namespace airlock::c {

void write_text(char* to, std::size_t room, std::string_view text) noexcept {
  const std::size_t size = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

void write_token(char (&to)[AIRLOCK_TOKEN_SIZE], const Token& token) {
  const std::string text = token.text();
  if (text.size() >= sizeof to) throw std::length_error("a token is longer than expected");
  write_text(to, sizeof to, text);
}

std::int64_t slot_of(const Slot& slot) noexcept { return slot ? std::int64_t{*slot} : -1; }

airlock_rate_info rate_info_of(const RateInfo& info) noexcept {
  return {.limit = info.limit,
          .remaining = info.remaining,
          .retry_after = info.retry_after.count(),
          .reset_after = info.reset_after.count()};
}

airlock_rate rate_of(const Rate& rate) noexcept {
  return {.count = rate.count,
          .burst = rate.burst,
          .period = rate.period.count(),
          .algorithm = static_cast<std::int32_t>(rate.algorithm),
          .reserved = 0};
}

PlainAnswer answer_of(const Lease& lease, Duration waited) noexcept {
  PlainAnswer answer;
  answer.fields.waited = waited.count();
  answer.fields.fence = lease.fence();
  answer.fields.slot = slot_of(lease.slot());
  answer.fields.expires_in = lease.remaining().count();
  return answer;
}

PlainAnswer answer_of(const Refused& refused) noexcept {
  PlainAnswer answer;
  answer.fields.reason = static_cast<std::int32_t>(refused.reason);
  answer.fields.retry_after = refused.retry_after.count();
  answer.fields.waited = refused.waited.count();
  answer.fields.rate = rate_info_of(refused.rate);
  return answer;
}

PlainAnswer answer_of(const Queued& queued) noexcept {
  PlainAnswer answer;
  answer.fields.position = queued.position;
  answer.fields.waiting = queued.waiting;
  answer.fields.next_check = queued.next_check.count();
  answer.fields.eta = queued.eta.count();
  answer.fields.rate = rate_info_of(queued.rate);
  return answer;
}

airlock_answer answer_of(const Granted& granted, bool with_token) {
  airlock_answer answer{};
  answer.rate = rate_info_of(granted.rate);
  answer.fence = granted.token.fence;
  answer.slot = slot_of(granted.slot);
  answer.expires_in = granted.expires_in.count();
  answer.delay = granted.delay.count();
  answer.taken = granted.taken;
  answer.repeated = granted.repeated ? 1 : 0;
  if (with_token && granted.token.fence != 0) write_token(answer.token, granted.token);
  return answer;
}

std::int32_t hand_over(Outcome<Lease> outcome, const Stopwatch& watch, airlock_lease*& lease,
                       airlock_answer* answer) {
  if (!outcome) {
    if (answer != nullptr) give(answer, answer_of(outcome.error()));
    return AIRLOCK_REFUSED;
  }
  auto handle = std::make_unique<airlock_lease>(*std::move(outcome));
  if (answer != nullptr) give(answer, answer_of(handle->lease, watch.elapsed()));
  lease = handle.release();
  return AIRLOCK_DONE;
}

namespace {

Duration now() noexcept {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

Stopwatch::Stopwatch(bool runs) noexcept : runs_(runs) {
  if (runs_) began_ = now();
}

Duration Stopwatch::elapsed() const noexcept { return runs_ ? now() - began_ : Duration(0); }

}  // namespace airlock::c

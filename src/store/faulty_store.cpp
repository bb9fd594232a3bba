#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "airlock/testing.hpp"

namespace airlock::testing {
namespace {

[[noreturn]] void fail(std::string_view step, StoreError::Kind kind) {
  throw StoreError(kind, StoreError::Outcome::nothing_happened,
                   "FaultyStore: " + std::string(step) + " was told to fail");
}

[[noreturn]] void lose_reply(std::string_view step) {
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::unknown,
                   "FaultyStore: the reply to " + std::string(step) + " was told to be lost");
}

}  // namespace

FaultyStore::FaultyStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}
FaultyStore::~FaultyStore() = default;

void FaultyStore::fail_next(std::size_t steps, StoreError::Kind kind) {
  const std::lock_guard guard(mutex_);
  failures_ = steps;
  failure_kind_ = kind;
}

void FaultyStore::drop_reply_next(std::size_t steps) {
  const std::lock_guard guard(mutex_);
  dropped_replies_ = steps;
}

void FaultyStore::down(bool down) {
  const std::lock_guard guard(mutex_);
  down_ = down;
}

bool FaultyStore::lose(const Token& token) {
  return inner_->holds(token) && inner_->revoke(token.gate, token.visitor, Revoke::now) > 0;
}

std::size_t FaultyStore::calls() const {
  const std::lock_guard guard(mutex_);
  return std::accumulate(calls_.begin(), calls_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& entry) { return sum + entry.second; });
}

std::size_t FaultyStore::calls(std::string_view step) const {
  const std::lock_guard guard(mutex_);
  const auto found = calls_.find(step);
  return found == calls_.end() ? 0 : found->second;
}

FaultyStore::Reply FaultyStore::begin(std::string_view step) {
  const std::lock_guard guard(mutex_);
  ++calls_[std::string(step)];
  if (down_) fail(step, StoreError::Kind::unavailable);
  if (failures_ > 0) {
    --failures_;
    fail(step, failure_kind_);
  }
  if (dropped_replies_ == 0) return Reply::delivered;
  --dropped_replies_;
  return Reply::dropped;
}

template <typename Step>
auto FaultyStore::perform(std::string_view name, Step step) {
  const Reply reply = begin(name);
  if constexpr (std::is_void_v<decltype(step())>) {
    step();
    if (reply == Reply::dropped) lose_reply(name);
  } else {
    auto result = step();
    if (reply == Reply::dropped) lose_reply(name);
    return result;
  }
}

bool FaultyStore::is_local() const noexcept { return !is_remote_ && inner_->is_local(); }
StoreId FaultyStore::id() { return inner_->id(); }
Clock& FaultyStore::clock() noexcept { return inner_->clock(); }
FaultyStore::Recheck FaultyStore::recheck() const noexcept { return inner_->recheck(); }
void FaultyStore::collect() { inner_->collect(); }
std::vector<Finding> FaultyStore::examine() { return inner_->examine(); }

Answer FaultyStore::admit(const Request& request) {
  return perform("admit", [&] { return inner_->admit(request); });
}

GroupAnswer FaultyStore::admit_all(std::span<const Request> requests) {
  return perform("admit_all", [&] { return inner_->admit_all(requests); });
}

bool FaultyStore::leave(const GateName& gate, const VisitorId& visitor) {
  return perform("leave", [&] { return inner_->leave(gate, visitor); });
}

void FaultyStore::refund(const Request& request) {
  perform("refund", [&] { inner_->refund(request); });
}

void FaultyStore::renew(std::span<RenewItem> items) {
  // On a copy: a caller whose reply is lost must not find the results in its items.
  std::vector<RenewItem> copy(items.begin(), items.end());
  const auto hand_on = [&] { std::copy(copy.begin(), copy.end(), items.begin()); };
  perform("renew", [&] {
    try {
      inner_->renew(copy);
    } catch (const StoreError&) {
      hand_on();  // Some may have a result.
      throw;
    }
  });
  hand_on();
}

bool FaultyStore::release(const Token& token) {
  return perform("release", [&] { return inner_->release(token); });
}

bool FaultyStore::release_soon(const Token& token, Instant until, bool by_next_step) noexcept {
  return inner_->release_soon(token, until, by_next_step);
}

bool FaultyStore::disown(const Token& token) {
  return perform("disown", [&] { return inner_->disown(token); });
}

std::optional<Granted> FaultyStore::adopt(const Token& token) {
  return perform("adopt", [&] { return inner_->adopt(token); });
}

bool FaultyStore::holds(const Token& token) {
  return perform("holds", [&] { return inner_->holds(token); });
}

std::optional<GateView> FaultyStore::look(const GateName& gate) {
  return perform("look", [&] { return inner_->look(gate); });
}

std::vector<GateCounts> FaultyStore::counts(std::span<const GateName> gates) {
  return perform("counts", [&] { return inner_->counts(gates); });
}

std::vector<std::string> FaultyStore::list() {
  return perform("list", [&] { return inner_->list(); });
}

std::vector<GateSummary> FaultyStore::survey(
    const std::function<bool(std::string_view gate)>& include) {
  return perform("survey", [&] { return inner_->survey(include); });
}

void FaultyStore::set_limit(const GateName& gate, std::optional<std::uint32_t> limit) {
  perform("set_limit", [&] { inner_->set_limit(gate, limit); });
}

void FaultyStore::pause(const GateName& gate, Duration duration, std::string_view reporter) {
  perform("pause", [&] { inner_->pause(gate, duration, reporter); });
}

bool FaultyStore::resume(const GateName& gate, std::string_view reporter) {
  return perform("resume", [&] { return inner_->resume(gate, reporter); });
}

std::size_t FaultyStore::revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                                Revoke how) {
  return perform("revoke", [&] { return inner_->revoke(gate, visitor, how); });
}

bool FaultyStore::purge(const GateName& gate) {
  return perform("purge", [&] { return inner_->purge(gate); });
}

bool FaultyStore::watch(const GateName& gate, const VisitorId& visitor,
                        std::function<void()> changed) {
  return inner_->watch(gate, visitor, std::move(changed));
}

void FaultyStore::unwatch(const GateName& gate, const VisitorId& visitor) {
  inner_->unwatch(gate, visitor);
}

}  // namespace airlock::testing

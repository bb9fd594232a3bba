#include "store/redis/identity.hpp"

#include <algorithm>
#include <charconv>

#include "base/random.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {
namespace {

// The slots of {0} to {3} are with four servers, if there are so many.
constexpr std::size_t kCopies = 4;
constexpr std::size_t kMostEarlier = 16;
constexpr auto kRest = std::chrono::seconds(1);
constexpr Duration kPatience = std::chrono::milliseconds(50);

std::string text_of(StoreId id) { return std::to_string(id); }

// Empty: no such number.
std::optional<StoreId> parse(std::string_view text) {
  StoreId id = 0;
  const auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, id).ptr != end || id == 0) return std::nullopt;
  return id;
}

Deadline half_of(const Deadline& deadline) {
  return deadline.sooner(std::chrono::ceil<Duration>(deadline.left() / 2)).cut_short();
}

StoreId random_id() { return std::max<StoreId>(base::random64(), 1); }

}  // namespace

bool Identity::is_fresh() { return id_ != 0 && connections_ == client_.connections(); }

StoreId Identity::get(const Deadline& deadline) {
  if (is_fresh()) return id_;
  if (id_ != 0) {
    recheck(deadline);
    return id_;
  }
  if (!mutex_.try_lock_until(deadline.at())) {
    throw too_late("another thread did not read the id of the store in time");
  }
  const base::LockGuard lock(mutex_, std::adopt_lock);
  if (id_ != 0) return id_;
  try {
    take(learn(deadline));
  } catch (const StoreError& error) {
    throw StoreError(error.kind(), Outcome::nothing_happened, error.what());
  }
  return id_;
}

bool Identity::knows(StoreId id, const Deadline& deadline) {
  if (id == get(deadline)) return true;
  if (mutex_.try_lock_until(deadline.at())) {
    const base::LockGuard lock(mutex_, std::adopt_lock);
    if (std::ranges::find(earlier_, id) != earlier_.end()) return true;
  }
  recheck(deadline);
  return id == id_;
}

// What is known stays where nobody answers; then it is not asked for again for a while. Time must be left
// for the step.
void Identity::recheck(const Deadline& deadline) {
  if (!mutex_.try_lock()) return;
  const base::LockGuard lock(mutex_, std::adopt_lock);
  if (Deadline::Clock::now() < rests_until_) return;
  try {
    take(read_or_make(half_of(deadline)));
  } catch (const StoreError&) {
    rests_until_ = Deadline::Clock::now() + kRest;
  }
}

void Identity::take(StoreId id) {
  connections_ = client_.connections();
  const StoreId before = id_.exchange(id);
  if (before == 0 || before == id) return;
  if (earlier_.size() == kMostEarlier) earlier_.erase(earlier_.begin());
  earlier_.push_back(before);
}

Call Identity::call(std::size_t copy, const std::string& number, bool replaces) const {
  const std::string tag = std::to_string(copy);
  const Script& script = (*options_.scripts)[static_cast<std::size_t>(Step::identity)];
  Call call(script, options_.prefix + ":id:{" + tag + "}", slot_of(tag));
  call.add("1").add(number).add(replaces ? "1" : "0");
  if (options_.stepped != nullptr) call.add("0").add("0");
  return call;
}

// Where one of several servers is down, there must be time left for the copies and for the step.
StoreId Identity::learn(const Deadline& deadline) {
  if (client_.has_one_server()) return read_or_make(deadline);
  try {
    return read_or_make(half_of(deadline));
  } catch (const StoreError&) {
    const auto id = read_copy(half_of(deadline));
    if (!id) throw;
    return *id;
  }
}

// A server that does not answer as soon as this one is not waited for: it gets no copy.
StoreId Identity::read_or_make(const Deadline& deadline) {
  const auto began = Deadline::Clock::now();
  const auto run = [&](const std::string& number) {
    return parse(client_.run(call(0, number, false), RetryPolicy::always, deadline).reply.text());
  };
  if (const auto id = run("")) return *id;
  const auto took = std::chrono::ceil<Duration>(Deadline::Clock::now() - began);
  const StoreId made = random_id();
  if (!client_.has_one_server()) write_copies(made, deadline.sooner(kPatience + 2 * took));
  const auto id = run(text_of(made));
  if (!id) {
    throw StoreError(StoreError::Kind::incompatible, Outcome::nothing_happened,
                     "redis: key " + options_.prefix + ":id:{0} does not hold an id");
  }
  if (!client_.has_one_server() && *id != made)
    write_copies(*id, deadline.sooner(kPatience + 2 * took));
  return *id;
}

std::optional<StoreId> Identity::read_copy(const Deadline& deadline) {
  std::vector<Call> calls;
  for (std::size_t copy = 1; copy < kCopies; ++copy) calls.push_back(call(copy, "", false));
  for (const auto& reply : client_.run(calls, deadline).replies) {
    if (!reply || reply->is_error()) continue;
    if (const auto id = parse(reply->text())) return id;
  }
  return std::nullopt;
}

void Identity::write_copies(StoreId id, const Deadline& deadline) {
  std::vector<Call> calls;
  for (std::size_t copy = 1; copy < kCopies; ++copy) calls.push_back(call(copy, text_of(id), true));
  (void)client_.run(calls, deadline);
}

}  // namespace airlock::redis

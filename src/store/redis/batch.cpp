#include "store/redis/batch.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "base/thread.hpp"
#include "store/redis/exchange.hpp"
#include "store/redis/redirect_reply.hpp"
#include "store/redis/retry.hpp"

namespace airlock::redis {
namespace {

// The calls of a batch that go to one server.
struct Part {
  NodePtr node;
  std::vector<std::size_t> which = {};
  std::vector<const Call*> calls = {};
  std::vector<Reply> replies = {};
  std::string where = {};
  std::optional<Failure> failure = {};
};

void at_the_same_time(std::vector<Part>& parts, const std::function<void(Part&)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    try {
      threads.push_back(
          base::start_thread("airlock-redis", [&work, &part = parts[i]] { work(part); }));
    } catch (const StoreError&) {  // No thread is to be had.
      work(parts[i]);
    }
  }
  work(parts.front());
  for (std::thread& thread : threads) thread.join();
}

class BatchRun {
 public:
  BatchRun(Topology& topology, std::span<const Call> calls, const Deadline& deadline)
      : topology_(topology), calls_(calls), deadline_(deadline) {
    batch_.replies.resize(calls.size());
    unanswered_.resize(calls.size());
    std::iota(unanswered_.begin(), unanswered_.end(), 0);
  }

  [[nodiscard]] Batch run(const RunAlone& run_alone) {
    for (std::size_t attempt = 1; !unanswered_.empty(); ++attempt) {
      if (attempt > 1 && !begins_again(attempt)) break;
      make();
    }
    for (const std::size_t i : sent_on_) make_alone(i, run_alone);
    if (unanswered_.empty()) batch_.failure.reset();
    return std::move(batch_);
  }

 private:
  [[nodiscard]] bool begins_again(std::size_t attempt);
  void make();
  [[nodiscard]] std::vector<Part> parts_of(const std::vector<std::size_t>& which);
  void run_part(Part& part) const;
  void take_in(Part& part);
  void make_alone(std::size_t call, const RunAlone& run_alone);
  void fail(const StoreError& error);

  Topology& topology_;
  const std::span<const Call> calls_;
  const Deadline& deadline_;

  Batch batch_;
  std::vector<std::size_t> unanswered_;
  std::vector<std::size_t> sent_on_;  // Said to be with another server.
};

// Once some have answered, a server that does not is tried twice and no more: their answers are
// waited for.
bool BatchRun::begins_again(std::size_t attempt) {
  const StoreError why = batch_.failure->error();
  if (!is_worth_repeating(topology_, why, RetryPolicy::always, attempt - 1, deadline_))
    return false;
  if (attempt > 2 && unanswered_.size() < calls_.size()) return false;
  topology_.invalidate(deadline_);
  rest_before(attempt, deadline_);
  return true;
}

void BatchRun::make() {
  try {
    std::vector<Part> parts = parts_of(unanswered_);
    unanswered_.clear();
    at_the_same_time(parts, [this](Part& part) { run_part(part); });
    for (Part& part : parts) take_in(part);
  } catch (const StoreError& error) {
    fail(error);
  }
}

std::vector<Part> BatchRun::parts_of(const std::vector<std::size_t>& which) {
  std::vector<Part> parts;
  for (const std::size_t i : which) {
    const NodePtr node = topology_.node_of(calls_[i].slot(), deadline_);
    auto part = std::ranges::find(parts, node, &Part::node);
    if (part == parts.end()) part = parts.insert(part, Part{node});
    part->which.push_back(i);
    part->calls.push_back(&calls_[i]);
  }
  return parts;
}

void BatchRun::run_part(Part& part) const try {
  const Deadline limit = of_one_attempt(topology_, RetryPolicy::always, deadline_);
  Pool::Lent connection = part.node->pool.take(part.calls.front()->slot(), limit);
  part.where = connection->where();
  Exchange done = exchange(*connection, part.calls, Asking::no, limit);
  if (done.acknowledged) {
    part.replies = std::move(done.replies);
  } else {
    part.failure = Failure::of(too_few_replicas());
  }
} catch (const StoreError& error) {
  part.failure = Failure::of(error);
} catch (const std::exception& error) {  // No memory: this may be a thread of its own.
  part.failure = {StoreError::Kind::no_room, Outcome::unknown, error.what()};
}

// Takes over what a server said.
void BatchRun::take_in(Part& part) {
  if (part.failure) {
    fail(part.failure->error());
    unanswered_.insert(unanswered_.end(), part.which.begin(), part.which.end());
    return;
  }
  for (std::size_t i = 0; i < part.which.size(); ++i) {
    Reply& reply = part.replies[i];
    if (topology_.has_slots() && RedirectReply::parse(reply)) {
      sent_on_.push_back(part.which[i]);
    } else if (is_unavailable(reply)) {
      part.node->pool.reconnect();
      fail(at(part.where, refusal_of(reply.text())));
      unanswered_.push_back(part.which[i]);
    } else {
      batch_.replies[part.which[i]] = std::move(reply);
    }
  }
}

void BatchRun::make_alone(std::size_t call, const RunAlone& run_alone) {
  try {
    batch_.replies[call] = run_alone(calls_[call]);
  } catch (const StoreError& error) {
    fail(error);
    unanswered_.push_back(call);
  }
}

// What may have happened in the first attempt may have happened, whatever becomes of the second.
void BatchRun::fail(const StoreError& error) {
  const bool perhaps = batch_.failure && batch_.failure->outcome == Outcome::unknown;
  batch_.failure = Failure::of(perhaps ? unknown(error) : error);
}

}  // namespace

const Reply& Batch::at(std::size_t call) const {
  const std::optional<Reply>& reply = replies[call];
  if (!reply) throw StoreError(failure->error());
  if (reply->is_error()) throw refusal_of(reply->text());
  return *reply;
}

Batch run_batch(Topology& topology, std::span<const Call> calls, const Deadline& deadline,
                const RunAlone& run_alone) {
  return BatchRun(topology, calls, deadline).run(run_alone);
}

}  // namespace airlock::redis

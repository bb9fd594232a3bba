#include "store/redis/client.hpp"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "base/random.hpp"
#include "base/thread.hpp"
#include "store/redis/redirection.hpp"

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using Kind = StoreError::Kind;

constexpr std::size_t kMostEars = 1000;  // Beyond them those that nobody uses are forgotten.

bool is_unknown_script(const Reply& reply) {
  return reply.is_error() && reply.text().starts_with("NOSCRIPT");
}

// Of a server that is the wrong one, or not ready.
bool is_unavailable(const Reply& reply) {
  return reply.is_error() && refusal_of(reply.text()).kind() == Kind::unavailable;
}

// At once for the second attempt, then less and less soon.
void rest_before(std::size_t attempt, const Deadline& deadline) {
  if (attempt <= 2) return;
  const auto pause =
      std::min<std::chrono::milliseconds>(1ms * (1 << std::min<std::size_t>(attempt, 10)), 50ms);
  std::this_thread::sleep_until(deadline.sooner(pause).at());
}

// What has become of passwords is of this process: a child of it reads them itself.
Options for_this_process(Options options) {
  const auto prepare = [&](Address& address) {
    address.timeout = options.timeout;
    if (address.password_file.empty()) return;
    address.secret = std::make_shared<Secret>(address.password_file, address.password);
  };
  prepare(options.address);
  for (Address& seed : options.seeds) prepare(seed);
  return options;
}

template <typename Parts, typename Work>
void at_the_same_time(Parts& parts, Work work) {
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

}  // namespace

Client::Client(const Options& options)
    : options_(for_this_process(options)),
      name_(std::to_string(base::random64())),
      topology_(Topology::make(options_)) {}

// --- running ---

struct Client::Exchange {
  std::vector<Reply> replies;
  bool in_order = true;  // None was made again after the others.
  bool acknowledged = true;
};

bool Client::awaits_replicas(std::span<const Call* const> calls) const {
  return options_.replicas_ack != 0 &&
         std::ranges::any_of(calls, [](const Call* call) { return call->is_lasting(); });
}

Client::Exchange Client::exchange(Connection& connection, std::span<const Call* const> calls,
                                  Call::By by, bool asking, const Deadline& deadline) const {
  const bool checks = connection.is_check_due();
  const bool waits = awaits_replicas(calls);
  std::string bytes;
  Commands extra;
  for (const Call* const call : calls) {
    if (asking) bytes.append("*1\r\n$6\r\nASKING\r\n");
    call->append_to(bytes, by, call->has_run_id() ? connection.run_id(deadline) : "");
  }
  if (waits) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left()) / 2;
    extra.add_all({"WAIT", std::to_string(options_.replicas_ack),
                   std::to_string(std::max<std::int64_t>(ms.count(), 1))});
  }
  if (checks) extra.add_all({"INFO", "memory"});
  bytes.append(extra.bytes());
  connection.send(bytes, deadline,
                  calls.size() * (asking ? 2 : 1) + (waits ? 1 : 0) + (checks ? 1 : 0));

  Exchange done;
  done.replies.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (asking) (void)connection.read(deadline);
    done.replies.push_back(connection.read(deadline));
  }
  const Reply replicas = waits ? connection.read(deadline) : Reply();
  if (checks) connection.note_memory(connection.read(deadline));
  if (waits) {
    if (replicas.is_error()) throw unknown(refusal_of(replicas.text()));  // The calls were made.
    done.acknowledged = replicas.integer() >= options_.replicas_ack;
  }
  if (by == Call::By::sha1) send_unknown_scripts(connection, calls, asking, deadline, done);
  return done;
}

void Client::send_unknown_scripts(Connection& connection, std::span<const Call* const> calls,
                                  bool asking, const Deadline& deadline, Exchange& done) const {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!is_unknown_script(done.replies[i])) continue;
    Exchange again = exchange(connection, calls.subspan(i, 1), Call::By::text, asking, deadline);
    done.replies[i] = std::move(again.replies.front());
    if (calls[i]->is_lasting()) done.acknowledged = again.acknowledged;
    if (!is_unknown_script(done.replies.back())) done.in_order = i + 1 == calls.size();
  }
}

// Where another server may take over, one that says nothing is not waited for to the end.
Deadline Client::of_one_attempt(RetryPolicy policy, const Deadline& deadline) const {
  if (!topology_->may_change() || policy == RetryPolicy::if_nothing_happened) return deadline;
  return deadline.sooner(std::chrono::duration_cast<Duration>(deadline.left() / 2));
}

// A connection that broke may have been closed long ago; a server that refuses has answered.
bool Client::is_worth_repeating(const StoreError& error, RetryPolicy policy, std::size_t attempt,
                                const Deadline& deadline) const {
  if (deadline.is_over() || (attempt > 1 && !topology_->may_change())) return false;
  if (policy == RetryPolicy::if_nothing_happened && error.outcome() != Outcome::nothing_happened)
    return false;
  return error.kind() == Kind::unavailable ||
         (error.kind() == Kind::busy && topology_->may_change());
}

// A server that is the wrong one, or not ready, may be another when it is connected to again.
void Client::check(Node& node, const std::string& where, const Reply& reply) {
  if (!reply.is_error()) return;
  if (is_unavailable(reply)) node.pool.drop_idle();
  throw at(where, refusal_of(reply.text()));
}

// Follows what a server of a cluster says of somebody else's slot; who is to be asked once.
NodePtr Client::follow(const Redirection& to, const std::string& host_asked) {
  Address address = options_.address;
  address.host = to.host.empty() ? host_asked : to.host;
  address.port = to.port;
  if (!to.for_good) return topology_->node_at(address);
  topology_->move(to.slot, address);
  return nullptr;
}

// Empty in the usual case, that nothing goes ahead.
std::vector<const Call*> Client::joined(std::span<const Call> ahead, const Call& call) {
  std::vector<const Call*> all;
  if (ahead.empty()) return all;
  for (const Call& each : ahead) all.push_back(&each);
  all.push_back(&call);
  return all;
}

Client::Ran Client::run(const Call& call, RetryPolicy policy, const Deadline& deadline,
                        std::span<const Call> ahead) {
  const std::vector<const Call*> many = joined(ahead, call);
  const Call* const one = &call;
  const std::span<const Call* const> calls = many.empty() ? std::span(&one, 1) : std::span(many);
  Ran ran;
  NodePtr once;  // Who has the keys while their slot is on its way.
  for (std::size_t attempt = 1;; ++attempt) {
    rest_before(attempt, deadline);
    try {
      const bool asking = once != nullptr;
      const NodePtr node =
          asking ? std::exchange(once, nullptr) : topology_->node_of(call.slot(), deadline);
      const Deadline limit = of_one_attempt(policy, deadline);
      Pool::Lent connection = node->pool.take(limit);
      Exchange done = exchange(*connection, calls, Call::By::sha1, asking, limit);
      const auto to = Redirection::read(done.replies.back());
      if (!to || !topology_->has_slots()) {
        check(*node, connection->where(), done.replies.back());
        ran.reply = std::move(done.replies.back());
        done.replies.pop_back();
        ran.ahead = std::move(done.replies);
        ran.in_order = done.in_order && std::ranges::none_of(ran.ahead, &Reply::is_error);
        ran.acknowledged = done.acknowledged;
        return ran;
      }
      if (deadline.is_over())
        throw too_late("the cluster is moving the gate to another server and has not finished");
      once = follow(*to, connection->host());
    } catch (const StoreError& error) {
      ran.perhaps_twice = ran.perhaps_twice || error.outcome() == Outcome::unknown;
      if (!is_worth_repeating(error, policy, attempt, deadline)) {
        throw ran.perhaps_twice ? unknown(error) : error;
      }
      topology_->invalidate(deadline);
    }
  }
}

// --- many ---

// The calls of a batch that go to one server.
struct Client::Part {
  NodePtr node;
  std::vector<std::size_t> which = {};
  std::vector<const Call*> calls = {};
  std::vector<Reply> replies = {};
  std::string where = {};
  std::optional<Failure> failure = {};
};

struct Client::Unanswered {
  std::vector<std::size_t> failed;
  std::vector<std::size_t> sent_on;  // Said to be with another server.
};

void Client::run_part(Part& part, const Deadline& deadline) const try {
  const Deadline limit = of_one_attempt(RetryPolicy::always, deadline);
  Pool::Lent connection = part.node->pool.take(limit);
  part.where = connection->where();
  Exchange done = exchange(*connection, part.calls, Call::By::sha1, false, limit);
  if (done.acknowledged) {
    part.replies = std::move(done.replies);
  } else {
    part.failure = Failure::of(too_few_replicas());
  }
} catch (const StoreError& error) {
  part.failure = Failure::of(error);
} catch (const std::exception& error) {  // No memory: this may be a thread of its own.
  part.failure = {Kind::no_room, Outcome::unknown, error.what()};
}

std::vector<Client::Part> Client::parts_of(std::span<const Call> calls,
                                           const std::vector<std::size_t>& which,
                                           const Deadline& deadline) {
  std::vector<Part> parts;
  for (const std::size_t i : which) {
    const NodePtr node = topology_->node_of(calls[i].slot(), deadline);
    auto part = std::ranges::find(parts, node, &Part::node);
    if (part == parts.end()) part = parts.insert(part, Part{node});
    part->which.push_back(i);
    part->calls.push_back(&calls[i]);
  }
  return parts;
}

// What may have happened in the first attempt may have happened, whatever becomes of the second.
void Client::fail(Batch& batch, const StoreError& error) {
  const bool perhaps = batch.failure && batch.failure->outcome == Outcome::unknown;
  batch.failure = Failure::of(perhaps ? unknown(error) : error);
}

// Takes over what a server said.
void Client::take_in(Part& part, Batch& batch, Unanswered& unanswered) {
  if (part.failure) {
    fail(batch, part.failure->error());
    unanswered.failed.insert(unanswered.failed.end(), part.which.begin(), part.which.end());
    return;
  }
  for (std::size_t i = 0; i < part.which.size(); ++i) {
    Reply& reply = part.replies[i];
    if (topology_->has_slots() && Redirection::read(reply)) {
      unanswered.sent_on.push_back(part.which[i]);
    } else if (is_unavailable(reply)) {
      part.node->pool.drop_idle();
      fail(batch, at(part.where, refusal_of(reply.text())));
      unanswered.failed.push_back(part.which[i]);
    } else {
      batch.replies[part.which[i]] = std::move(reply);
    }
  }
}

// Once some have answered, a server that does not is tried twice and no more: their answers are
// waited for.
Client::Batch Client::run(std::span<const Call> calls, const Deadline& deadline) {
  Batch batch{.replies = std::vector<std::optional<Reply>>(calls.size()), .failure = {}};
  Unanswered unanswered;
  unanswered.failed.resize(calls.size());
  std::iota(unanswered.failed.begin(), unanswered.failed.end(), 0);
  for (std::size_t attempt = 1; !unanswered.failed.empty(); ++attempt) {
    if (attempt > 1) {
      const StoreError why = batch.failure->error();
      if (!is_worth_repeating(why, RetryPolicy::always, attempt - 1, deadline)) break;
      if (attempt > 2 && unanswered.failed.size() < calls.size()) break;
      topology_->invalidate(deadline);
      rest_before(attempt, deadline);
    }
    const std::vector<std::size_t> which = unanswered.failed;
    try {
      std::vector<Part> parts = parts_of(calls, which, deadline);
      unanswered.failed.clear();
      at_the_same_time(parts, [&](Part& part) { run_part(part, deadline); });
      for (Part& part : parts) take_in(part, batch, unanswered);
    } catch (const StoreError& error) {
      fail(batch, error);
    }
  }
  for (const std::size_t i : unanswered.sent_on) {
    try {
      Ran ran = run(calls[i], RetryPolicy::always, deadline);
      if (!ran.acknowledged) throw too_few_replicas();
      batch.replies[i] = std::move(ran.reply);
    } catch (const StoreError& error) {
      fail(batch, error);
      unanswered.failed.push_back(i);
    }
  }
  if (unanswered.failed.empty()) batch.failure.reset();
  return batch;
}

Reply Client::ask(Node& node, const Commands& commands, const Deadline& deadline) {
  for (std::size_t attempt = 1;; ++attempt) {
    rest_before(attempt, deadline);
    try {
      const Deadline limit = of_one_attempt(RetryPolicy::always, deadline);
      Pool::Lent connection = node.pool.take(limit);
      Reply reply = connection->ask(commands, limit);
      check(node, connection->where(), reply);
      return reply;
    } catch (const StoreError& error) {
      if (!is_worth_repeating(error, RetryPolicy::always, attempt, deadline)) throw;
    }
  }
}

std::uint64_t Client::connections() {
  if (!has_one_server()) return 0;
  return topology_->node_of(0, Deadline(Deadline::Clock::time_point{}))->pool.opened();
}

// --- hearing ---

// Before Redis 7 a cluster knows no channels of slots: every server passes on what any one says.
std::shared_ptr<WakeChannel> Client::channel(const GateName& gate, bool make) {
  const bool sharded = topology_->has_slots() && can_shard_;
  const std::string_view tag = sharded ? gate.group() : "";
  const std::lock_guard lock(mutex_);
  if (const auto found = channels_.find(tag); found != channels_.end()) return found->second;
  if (!make) return nullptr;
  if (channels_.size() >= kMostEars) {
    std::erase_if(channels_, [](const auto& entry) {
      return entry.second.use_count() == 1 && entry.second->watchers.is_empty();
    });
  }
  std::string name = options_.prefix + ":wake:" + name_;
  if (sharded) name.append(":{").append(tag).append("}");
  return channels_[std::string(tag)] = std::make_shared<WakeChannel>(
             std::move(name), sharded ? slot_of(tag) : Slot{0}, sharded);
}

std::vector<std::shared_ptr<WakeChannel>> Client::channels() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<WakeChannel>> all;
  for (const auto& [tag, channel] : channels_) all.push_back(channel);
  return all;
}

void Client::unwatch(const GateName& gate, const std::string& key) {
  for (const std::string_view tag : {gate.group(), std::string_view()}) {
    std::unique_lock lock(mutex_);
    const auto found = channels_.find(tag);
    if (found == channels_.end()) continue;
    const std::shared_ptr<WakeChannel> channel = found->second;
    lock.unlock();
    channel->watchers.remove(key);
  }
}

bool Client::confirm(const std::shared_ptr<WakeChannel>& channel, const Deadline& deadline) {
  const NodePtr node =
      topology_->node_of(channel->slot, deadline);  // It may leave the cluster meanwhile.
  channel->set_node(node);
  const bool hears = node->subscription.confirm(channel, deadline);
  if (!node->subscription.can_shard()) can_shard_ = false;
  return hears;
}

void Client::attend(const WakeChannel& channel) {
  if (const NodePtr node = channel.node()) node->subscription.attend();
}

bool Client::sleep(const WakeChannel& channel, Sleeper& sleeper, Clock& clock, Instant deadline) {
  const NodePtr node = channel.node();
  return node ? node->subscription.sleep(channel, sleeper, clock, deadline)
              : sleeper.sleep(clock, deadline);
}

void Client::flush(const WakeChannel& channel, const Deadline& deadline) {
  topology_->node_of(channel.slot, deadline)->subscription.flush(channel, deadline);
}

bool Client::counts_hearers() const noexcept { return !topology_->has_slots() || can_shard_; }

}  // namespace airlock::redis

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>

#include "airlock/store.hpp"
#include "redis_subjects.hpp"
#include "rows.hpp"
#include "store/backend.hpp"
#include "store/redis/call.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/wire.hpp"
#include "store/sleeper.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

using redis::Step;
using Clock = std::chrono::steady_clock;

std::string unused_gate() {
  static std::atomic<int> number = 0;
  return "gate" + std::to_string(++number);
}

const redis::Script& script(Step step) { return redis::scripts()[static_cast<std::size_t>(step)]; }

// One gate over airlock.
class OverAirlock {
 public:
  explicit OverAirlock(Way way, std::uint32_t limit)
      : store_(open_store(redis_uri(way))), limit_(limit) {}

  Token acquire() {
    const Answer answer =
        store_.admit({.gate = gate_, .visitor = VisitorId::random(), .permits = permits(limit_)});
    return std::get<Granted>(answer).token;
  }
  void release(const Token& token) { require(store_.release(token), "the lease was live"); }
  void check(std::uint64_t grants) { require_grants(*store_.look(gate_), grants); }

 private:
  Store store_;
  std::uint32_t limit_;
  std::string gate_ = unused_gate();
};

// The same scripts through plain hiredis.
class OverHiredis {
 public:
  explicit OverHiredis(Way way, std::uint32_t limit, std::string gate = unused_gate())
      : redis_(way), limit_(limit), gate_(std::move(gate)) {
    acquire_ = redis_.load(script(Step::admit).text);
    release_ = redis_.load(script(Step::release).text);
    const redis::Naming naming("plain");
    for (const std::string_view part : redis::Naming::kParts)
      keys_.push_back(naming.key(gate_, part));
  }
  [[nodiscard]] const std::string& gate() const noexcept { return gate_; }

  Token acquire() {
    const auto token = ask(VisitorId::random());
    require(token.has_value(), "there is room");
    return *token;
  }
  // With a channel: stands in line if there is no room, and is told there when it is its turn.
  std::optional<Token> ask(const VisitorId& visitor, const std::string& channel = "") {
    const Token token{.gate = gate_, .visitor = visitor};
    const Request request{.gate = gate_,
                          .visitor = visitor,
                          .permits = permits(limit_),
                          .line = {.join = !channel.empty()}};
    const std::string reply =
        redis_.call(words(acquire_, {"1", redis::pack_visitor(visitor), channel,
                                     redis::pack_request(request, false), "", "bench"}));
    redis::Unpacker fields(reply);
    if (redis::read_head(fields).kind != redis::AnswerKind::granted) return std::nullopt;
    return redis::read_granted(fields, token).token;
  }
  void release(const Token& token) {
    (void)redis_.call(
        words(release_, {"1", redis::pack_visitor(token.visitor), std::to_string(token.fence)}));
  }
  void check(std::uint64_t /*grants*/) {}

 private:
  [[nodiscard]] std::vector<std::string> words(const std::string& sha1,
                                               std::initializer_list<std::string> arguments) const {
    std::vector<std::string> all = {"EVALSHA", sha1, "5"};
    all.insert(all.end(), keys_.begin(), keys_.end());
    all.insert(all.end(), arguments);
    return all;
  }

  PlainRedis redis_;
  std::uint32_t limit_;
  std::string gate_;
  std::string acquire_;
  std::string release_;
  std::vector<std::string> keys_;
};

// What such limiters are made of elsewhere: one sorted set of expiries.
constexpr std::string_view kOneKey = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[3] / 1000))
return 1
)lua";

class OneKey {
 public:
  explicit OneKey(Way way, std::uint32_t limit)
      : redis_(way), limit_(std::to_string(limit)), acquire_(redis_.load(kOneKey)) {}

  std::string acquire() {
    std::string visitor = redis::pack_visitor(VisitorId::random());
    require(redis_.call({"EVALSHA", acquire_, "1", key_, visitor, limit_, "86400000000"}) == "1",
            "there is room");
    return visitor;
  }
  void release(const std::string& visitor) { (void)redis_.call({"ZREM", key_, visitor}); }
  void check(std::uint64_t /*grants*/) {}

 private:
  PlainRedis redis_;
  std::string limit_;
  std::string acquire_;
  std::string key_ = unused_gate();
};

template <typename Over>
class Pairs final : public Subject {
 public:
  explicit Pairs(Way way) : over_(way, 10) {}
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) over_.release(over_.acquire());
  }
  void check(std::uint64_t operations) override { over_.check(operations); }

 private:
  Over over_;
};

template <typename Over>
class Acquires final : public Subject {
 public:
  explicit Acquires(Way way) : over_(way, kMaxLimit) {}
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) (void)over_.acquire();
  }
  void check(std::uint64_t operations) override { over_.check(operations); }

 private:
  Over over_;
};

// Many at once, through one store or each with a connection of its own.
constexpr std::uint64_t kVisits =
    20;  // Of each thread in one operation, so that starting them is little.

template <typename Visit>
void in_threads(std::size_t count, std::uint64_t operations, const Visit& visit) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      for (std::uint64_t n = 0; n < operations * kVisits; ++n) visit(i);
    });
  }
}

class ManyThreads : public Subject {
 public:
  explicit ManyThreads(std::size_t threads)
      : threads_(threads), over_(Way::unix_socket, static_cast<std::uint32_t>(threads)) {}
  void run(std::uint64_t operations) override {
    in_threads(threads_, operations, [this](std::size_t thread) { visit(thread); });
  }
  void check(std::uint64_t operations) override { over_.check(operations * threads_ * kVisits); }

 protected:
  virtual void visit(std::size_t /*thread*/) { over_.release(over_.acquire()); }
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }

 private:
  std::size_t threads_;
  OverAirlock over_;
};

class ManyPlainThreads : public Subject {
 public:
  // At one gate, as the others.
  explicit ManyPlainThreads(std::size_t threads) {
    const std::string gate = unused_gate();
    const auto limit = static_cast<std::uint32_t>(threads);
    for (std::size_t i = 0; i < threads; ++i) {
      over_.push_back(std::make_unique<OverHiredis>(Way::unix_socket, limit, gate));
    }
  }
  void run(std::uint64_t operations) override {
    in_threads(threads(), operations, [this](std::size_t thread) { visit(thread); });
  }
  void check(std::uint64_t /*operations*/) override {}

 protected:
  virtual void visit(std::size_t thread) { over_[thread]->release(over_[thread]->acquire()); }
  [[nodiscard]] std::size_t threads() const noexcept { return over_.size(); }

 private:
  std::vector<std::unique_ptr<OverHiredis>> over_;
};

// Of the same, the time of the one visit in a hundred that takes longest.
template <typename Threads>
class SlowVisits final : public Threads {
 public:
  explicit SlowVisits(std::size_t threads) : Threads(threads), times_(threads) {}
  void run(std::uint64_t operations) override {
    for (auto& times : times_) times.clear();
    Threads::run(operations);
    std::vector<std::chrono::nanoseconds> all;
    for (const auto& times : times_) all.insert(all.end(), times.begin(), times.end());
    const auto p99 = all.begin() + static_cast<std::ptrdiff_t>(all.size() * 99 / 100);
    std::nth_element(all.begin(), p99, all.end());
    took_ = *p99 * operations;
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> took() const override { return took_; }

 private:
  void visit(std::size_t thread) override {
    const auto start = Clock::now();
    Threads::visit(thread);
    times_[thread].push_back(Clock::now() - start);
  }

  std::vector<std::vector<std::chrono::nanoseconds>> times_;
  std::chrono::nanoseconds took_{};
};

// Of the same, the time of the server's processor.
template <typename Threads>
class ServerTime final : public Threads {
 public:
  using Threads::Threads;
  void run(std::uint64_t operations) override {
    const std::chrono::nanoseconds before = used();
    Threads::run(operations);
    took_ = (used() - before) / static_cast<std::int64_t>(this->threads() * kVisits);
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> took() const override { return took_; }

 private:
  [[nodiscard]] std::chrono::nanoseconds used() const {
    const std::string info = redis_.call({"INFO", "cpu"});
    double seconds = 0;
    for (const std::string field : {"used_cpu_sys:", "used_cpu_user:"}) {
      seconds += std::stod(info.substr(info.find(field) + field.size()));
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
  }

  PlainRedis redis_{Way::unix_socket};
  std::chrono::nanoseconds took_{};
};

// One thread holds, another stands in line. One operation: from the call that releases to the return of the call that
// claims, in the other thread; what is before and after does not count.
template <typename Line>
class ReleaseToRunning final : public Subject {
 public:
  ~ReleaseToRunning() override {
    ends_ = true;
    go_.release();
  }

  void run(std::uint64_t operations) override {
    took_ = {};
    for (std::uint64_t i = 0; i < operations; ++i) {
      line_.hold();
      go_.release();
      stands_.acquire();
      for (int n = 0; n < 10; ++n) std::this_thread::yield();  // The other goes to sleep.
      const auto start = Clock::now();
      line_.release();
      runs_.acquire();
      took_ += ran_at_ - start;
      ++turns_;
    }
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> took() const override { return took_; }
  void check(std::uint64_t operations) override {
    require(turns_ == operations, "as many turns as operations");
    line_.check(operations);
  }

 private:
  void wait_in_line() {
    for (go_.acquire(); !ends_; go_.acquire()) {
      line_.join();
      stands_.release();
      line_.await_turn();
      ran_at_ = Clock::now();
      line_.leave();
      runs_.release();
    }
  }

  Line line_;
  std::chrono::nanoseconds took_{};
  Clock::time_point ran_at_;
  std::uint64_t turns_ = 0;
  std::atomic<bool> ends_ = false;
  std::binary_semaphore go_{0};
  std::binary_semaphore stands_{0};
  std::binary_semaphore runs_{0};
  std::jthread waiter_{[this] { wait_in_line(); }};
};

class GateLine {
 public:
  void hold() { held_ = std::get<Granted>(store_.admit(ask(false))).token; }
  void release() { require(store_.release(held_), "the lease was live"); }

  void join() {
    request_ = ask(true);
    require(std::holds_alternative<Queued>(store_.admit(request_)), "somebody is inside");
  }
  void await_turn() {
    const Instant deadline = internal::backend_of(store_)->clock().now() + kLong;
    require(internal::backend_of(store_)->await(gate_, request_.visitor, sleeper_, deadline),
            "it is told");
    claimed_ = std::get<Granted>(store_.admit(request_)).token;
  }
  void leave() { (void)store_.release(claimed_); }

  void check(std::uint64_t turns) { require_grants(*store_.look(gate_), 2 * turns); }

 private:
  [[nodiscard]] Request ask(bool join) const {
    return {.gate = gate_,
            .visitor = VisitorId::random(),
            .permits = permits(1),
            .line = {.join = join}};
  }

  Store store_ = open_store(redis_uri(Way::unix_socket));
  std::string gate_ = unused_gate();
  Request request_ = ask(true);
  Token held_{.gate = gate_};
  Token claimed_{.gate = gate_};
  std::shared_ptr<Sleeper> sleeper_ = std::make_shared<Sleeper>();
};

// The same scripts through plain hiredis; the thread that waits reads the messages itself.
class ScriptLine {
 public:
  ScriptLine() { subscription_.subscribe(channel_); }
  void hold() { held_ = holder_.acquire(); }
  void release() { holder_.release(held_); }
  void join() {
    visitor_ = VisitorId::random();
    require(!waiter_.ask(visitor_, channel_), "somebody is inside");
  }
  void await_turn() {
    subscription_.await_message();
    claimed_ = waiter_.ask(visitor_, channel_);
    require(claimed_.has_value(), "it is its turn");
  }
  void leave() { waiter_.release(*claimed_); }
  void check(std::uint64_t /*turns*/) {}

 private:
  OverHiredis holder_{Way::unix_socket, 1};
  OverHiredis waiter_{Way::unix_socket, 1, holder_.gate()};
  PlainRedis subscription_{Way::unix_socket};
  std::string channel_ = unused_gate();
  VisitorId visitor_;
  Token held_{.gate = holder_.gate()};
  std::optional<Token> claimed_;
};

// EVALSHA with PUBLISH, the other's subscription, EVALSHA.
class PlainLine {
 public:
  PlainLine() {
    subscription_.subscribe(channel_);
    release_ = releaser_.load("return redis.call('PUBLISH', ARGV[1], '')");
    claim_ = releaser_.load("return redis.call('INCR', KEYS[1])");
  }
  void hold() {}
  void release() { (void)releaser_.call({"EVALSHA", release_, "0", channel_}); }
  void join() {}
  void await_turn() {
    subscription_.await_message();
    turns_ = claimer_.call({"EVALSHA", claim_, "1", channel_ + ":turns"});
  }
  void leave() {}
  void check(std::uint64_t turns) {
    require(turns_ == std::to_string(turns), "every claim counts");
  }

 private:
  PlainRedis releaser_{Way::unix_socket};
  PlainRedis subscription_{Way::unix_socket};
  PlainRedis claimer_{Way::unix_socket};
  std::string channel_ = unused_gate();
  std::string release_;
  std::string claim_;
  std::string turns_;
};

// The commands that a hand-over and its claim give to Redis, with values of the same size, and nothing else: what any
// script costs that keeps a line, leases and their ends like this.
class CommandsLine {
 public:
  CommandsLine() {
    subscription_.subscribe(channel_);
    join_ = releaser_.load(R"lua(
      redis.call('HSET', KEYS[1], 'm', ARGV[2], 'holder', ARGV[2], 'head', ARGV[2], 'c', ARGV[2])
      redis.call('ZADD', KEYS[2], 1, 'head')
      redis.call('ZADD', KEYS[3], 1, 'head'))lua");
    release_ = releaser_.load(R"lua(
      redis.call('TIME')
      redis.call('HMGET', KEYS[1], 'm', 'holder', 'p')
      redis.call('ZRANGE', KEYS[3], '0', '0')
      redis.call('HGET', KEYS[1], 'head')
      redis.call('PUBLISH', ARGV[1], 'head')
      redis.call('HDEL', KEYS[1], 'holder')
      redis.call('ZREM', KEYS[2], 'head')
      redis.call('ZREM', KEYS[3], 'head')
      redis.call('HSET', KEYS[1], 'm', ARGV[2], 'head', ARGV[2]))lua");
    claim_ = releaser_.load(R"lua(
      redis.call('TIME')
      redis.call('HMGET', KEYS[1], 'm', 'p', 'head', 'c')
      return redis.call('HSET', KEYS[1], 'm', ARGV[2], 'head', ARGV[2], 'c', ARGV[2]))lua");
  }
  void hold() {}
  void release() { (void)run(releaser_, release_); }
  void join() { (void)run(claimer_, join_); }
  void await_turn() {
    subscription_.await_message();
    require(run(claimer_, claim_) == "0", "all was there");
  }
  void leave() {}
  void check(std::uint64_t /*turns*/) {}

 private:
  std::string run(PlainRedis& redis, const std::string& script) const {
    return redis.call({"EVALSHA", script, "3", channel_, channel_ + ":out", channel_ + ":line",
                       channel_, value_});
  }

  PlainRedis releaser_{Way::unix_socket};
  PlainRedis subscription_{Way::unix_socket};
  PlainRedis claimer_{Way::unix_socket};
  std::string channel_ = unused_gate();
  std::string value_ = std::string(184, 'v');
  std::string join_;
  std::string release_;
  std::string claim_;
};

// A release that hands over, the claim, and the one who released joins the end of the line.
class Circle final : public Subject {
 public:
  explicit Circle(std::size_t waiting) {
    holder_ = std::get<Granted>(store_.admit(request(VisitorId::random()))).token;
    for (std::size_t i = 0; i < waiting; ++i) join(VisitorId::random());
  }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const VisitorId next = line_.front();
      line_.pop_front();
      require(store_.release(holder_), "the lease was live");
      const VisitorId last = holder_.visitor;
      holder_ = std::get<Granted>(store_.admit(request(next))).token;
      join(last);
    }
  }
  void check(std::uint64_t /*operations*/) override {
    require(store_.look(gate_)->line.size() == line_.size(), "everybody is still in line");
  }

 private:
  [[nodiscard]] Request request(const VisitorId& visitor) const {
    Request request{.gate = gate_, .visitor = visitor, .permits = permits(1)};
    request.line = {.join = true, .patience = kLong, .claim_window = kLong};
    return request;
  }
  void join(const VisitorId& visitor) {
    require(std::holds_alternative<Queued>(store_.admit(request(visitor))), "it waits");
    line_.push_back(visitor);
  }

  Store store_ = open_store(redis_uri(Way::unix_socket));
  std::string gate_ = unused_gate();
  Token holder_{.gate = gate_};
  std::deque<VisitorId> line_;
};

template <typename Type, typename... Arguments>
std::function<std::unique_ptr<Subject>()> make(Arguments... arguments) {
  return [=] { return std::make_unique<Type>(arguments...); };
}

void add_thread_rows(std::vector<Row>& rows) {
  for (const auto& [threads, aim] : {std::pair(16U, 1 / 0.95), std::pair(64U, 1 / 1.4)}) {
    const std::string many = std::to_string(threads);
    rows.push_back({.name = "redis: " + many + " threads acquire + release",
                    .against = many + " plain hiredis threads, same scripts",
                    .aim = aim,
                    .subject = make<ManyThreads>(threads),
                    .reference = make<ManyPlainThreads>(threads),
                    .time = Time::wall});
  }
  constexpr std::size_t kThreads = 64;
  rows.push_back({.name = "redis: 64 threads, p99 of acquire + release",
                  .against = "64 plain hiredis threads, same scripts",
                  .aim = 1,
                  .subject = make<SlowVisits<ManyThreads>>(kThreads),
                  .reference = make<SlowVisits<ManyPlainThreads>>(kThreads),
                  .time = Time::wall});
  rows.push_back({.name = "redis: 64 threads, CPU time of the server per acquire + release",
                  .against = "64 plain hiredis threads, same scripts",
                  .aim = 0.75,
                  .subject = make<ServerTime<ManyThreads>>(kThreads),
                  .reference = make<ServerTime<ManyPlainThreads>>(kThreads),
                  .time = Time::wall});
}

}  // namespace

void add_redis_rows(std::vector<Row>& rows) {
  const std::size_t first = rows.size();
  for (const Way way : {Way::tcp, Way::unix_socket}) {
    const std::string over = way == Way::tcp ? " over TCP" : " over a Unix socket";
    rows.push_back({.name = "redis: acquire + release" + over,
                    .against = "the same scripts through plain hiredis",
                    .aim = 1.1,
                    .subject = make<Pairs<OverAirlock>>(way),
                    .reference = make<Pairs<OverHiredis>>(way),
                    .time = Time::wall});
    rows.push_back({.name = "redis: acquire" + over,
                    .against = "a one-key sorted-set script through plain hiredis",
                    .aim = way == Way::tcp ? 1.3 : 1.6,
                    .subject = make<Acquires<OverAirlock>>(way),
                    .reference = make<Acquires<OneKey>>(way),
                    .time = Time::wall});
  }
  rows.push_back({.name = "redis: acquire + release through Sentinel",
                  .against = "the same server over TCP",
                  .aim = 1.05,
                  .subject = make<Pairs<OverAirlock>>(Way::sentinel),
                  .reference = make<Pairs<OverAirlock>>(Way::tcp),
                  .time = Time::wall});
  rows.push_back({.name = "redis: acquire + release through Cluster",
                  .against = "the same server over TCP",
                  .aim = 1.05,
                  .subject = make<Pairs<OverAirlock>>(Way::cluster),
                  .reference = make<Pairs<OverAirlock>>(Way::tcp_to_cluster),
                  .time = Time::wall});
  rows.push_back({.name = "redis: release to the waiter that runs",
                  .against = "EVALSHA with PUBLISH, subscriber, EVALSHA",
                  .aim = 1.3,
                  .subject = make<ReleaseToRunning<GateLine>>(),
                  .reference = make<ReleaseToRunning<PlainLine>>(),
                  .time = Time::wall});
  rows.push_back({.name = "redis: release to the waiter that runs",
                  .against = "the same scripts through plain hiredis, who waits reads its messages",
                  .aim = {},
                  .subject = make<ReleaseToRunning<GateLine>>(),
                  .reference = make<ReleaseToRunning<ScriptLine>>(),
                  .time = Time::wall});
  rows.push_back({.name = "redis: the commands of a release and a claim, without rules",
                  .against = "EVALSHA with PUBLISH, subscriber, EVALSHA",
                  .aim = {},
                  .subject = make<ReleaseToRunning<CommandsLine>>(),
                  .reference = make<ReleaseToRunning<PlainLine>>(),
                  .time = Time::wall});
  add_thread_rows(rows);
  rows.push_back({.name = "redis: release, claim and join with 1 000 waiters",
                  .against = "with one",
                  .aim = 1.5,
                  .subject = make<Circle>(1'000),
                  .reference = make<Circle>(1),
                  .time = Time::wall});
  for (Row& row : std::span(rows).subspan(first)) row.cores = Cores::clients;
}

}  // namespace airlock::bench

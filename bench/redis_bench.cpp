#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "airlock/store.hpp"
#include "redis_subjects.hpp"
#include "rows.hpp"
#include "store/redis/call.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/wire.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

using redis::Step;

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
        store_->admit({.gate = gate_, .visitor = VisitorId::random(), .permits = permits(limit_)});
    return std::get<Granted>(answer).token;
  }
  void release(const Token& token) { require(store_->release(token), "the lease was live"); }
  void check(std::uint64_t grants) { require_grants(*store_->look(gate_), grants); }

 private:
  std::shared_ptr<Store> store_;
  std::uint32_t limit_;
  std::string gate_ = unused_gate();
};

// The same scripts through plain hiredis.
class OverHiredis {
 public:
  explicit OverHiredis(Way way, std::uint32_t limit) : redis_(way), limit_(limit) {
    acquire_ = redis_.load(script(Step::admit).text);
    release_ = redis_.load(script(Step::release).text);
    const redis::Naming naming("plain");
    for (const std::string_view part : redis::Naming::kParts)
      keys_.push_back(naming.key(gate_, part));
  }

  Token acquire() {
    Token token{.gate = gate_, .visitor = VisitorId::random()};
    const Request request{.gate = gate_, .visitor = token.visitor, .permits = permits(limit_)};
    const std::string reply =
        redis_.call(words(acquire_, {"1", redis::pack_visitor(token.visitor), "",
                                     redis::pack_request(request, false), "", "bench"}));
    redis::Unpacker fields(reply);
    require(redis::read_head(fields).kind == redis::AnswerKind::granted, "there is room");
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
  std::string gate_ = unused_gate();
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

// Sixteen at once, through one store or each with a connection of its own.
constexpr std::size_t kThreads = 16;

constexpr std::uint64_t kVisits =
    20;  // Of each thread in one operation, so that starting them is little.

template <typename Visit>
void in_threads(std::uint64_t operations, const Visit& visit) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::uint64_t n = 0; n < operations * kVisits; ++n) visit(i);
    });
  }
}

class ManyThreads final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    in_threads(operations, [this](std::size_t /*thread*/) { over_.release(over_.acquire()); });
  }
  void check(std::uint64_t operations) override { over_.check(operations * kThreads * kVisits); }

 private:
  OverAirlock over_{Way::unix_socket, 16};
};

class ManyPlainThreads final : public Subject {
 public:
  ManyPlainThreads() {
    for (std::size_t i = 0; i < kThreads; ++i) {
      over_.push_back(std::make_unique<OverHiredis>(Way::unix_socket, 16));
    }
  }
  void run(std::uint64_t operations) override {
    in_threads(operations, [this](std::size_t i) { over_[i]->release(over_[i]->acquire()); });
  }
  void check(std::uint64_t /*operations*/) override {}

 private:
  std::vector<std::unique_ptr<OverHiredis>> over_;
};

// Two threads that have the gate one after the other. One operation: a release, the wake-up of who
// waits, and its claim; meanwhile the one who released stands in line again.
class HandOver final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    total_ += operations;
    left_ = static_cast<std::int64_t>(operations);
    std::jthread other([this] { play(1); });
    play(0);
  }
  void check(std::uint64_t operations) override {
    require(handed_ == operations, "as many hand-overs as operations");
  }

 private:
  struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool called = false;
  };

  Token enter(std::size_t who) {
    Request request{.gate = gate_, .visitor = VisitorId::random(), .permits = permits(1)};
    request.line.join = true;
    for (;;) {
      const Answer answer = store_->admit(request);
      if (const auto* granted = std::get_if<Granted>(&answer)) return granted->token;
      Signal& signal = signals_[who];
      signal.called = false;
      const bool waits = store_->watch(gate_, request.visitor, [&signal] {
        const std::lock_guard lock(signal.mutex);
        signal.called = true;
        signal.changed.notify_one();
      });
      waiting_[who] = true;
      waiting_[who].notify_all();
      if (!waits) continue;
      std::unique_lock lock(signal.mutex);
      signal.changed.wait_for(lock, std::chrono::milliseconds(250), [&] { return signal.called; });
    }
  }

  void play(std::size_t who) {
    while (true) {
      const Token token = enter(who);
      waiting_[who] = false;
      const bool last = --left_ <= 0;
      if (!last) {
        ++handed_;
        while (!waiting_[1 - who] && left_ > 0) std::this_thread::yield();
      } else if (left_ == 0) {
        ++handed_;
      }
      (void)store_->release(token);
      if (last) return;
    }
  }

  std::shared_ptr<Store> store_ = open_store(redis_uri(Way::unix_socket));
  std::string gate_ = unused_gate();
  std::array<Signal, 2> signals_;
  std::array<std::atomic<bool>, 2> waiting_ = {};
  std::atomic<std::int64_t> left_ = 0;
  std::atomic<std::uint64_t> handed_ = 0;
  std::uint64_t total_ = 0;
};

// EVALSHA with PUBLISH, the other's subscription, EVALSHA.
class PlainHandOver final : public Subject {
 public:
  PlainHandOver() {
    for (Player& player : players_) player.subscription.subscribe(player.channel);
    release_ = players_[0].redis.load("return redis.call('PUBLISH', ARGV[1], '')");
    claim_ = players_[0].redis.load("return redis.call('INCR', KEYS[1])");
  }
  void run(std::uint64_t operations) override {
    std::jthread other([&] { play(1, operations / 2); });
    const std::uint64_t first = operations - operations / 2;
    release_to(players_[0].channel, 1);
    play(0, first);
    other.join();
    if (first > operations / 2)
      players_[1].subscription.await_message();
    else
      players_[0].subscription.await_message();
  }
  void check(std::uint64_t operations) override {
    require(turns_ == operations, "as many turns as operations");
  }

 private:
  struct Player {
    PlainRedis redis{Way::unix_socket};
    PlainRedis subscription{Way::unix_socket};
    std::string channel = unused_gate();
  };

  void release_to(const std::string& channel, std::size_t who) {
    (void)players_[who].redis.call({"EVALSHA", release_, "0", channel});
  }
  void play(std::size_t who, std::uint64_t turns) {
    for (std::uint64_t i = 0; i < turns; ++i) {
      players_[who].subscription.await_message();
      (void)players_[who].redis.call({"EVALSHA", claim_, "1", "turns"});
      ++turns_;
      release_to(players_[1 - who].channel, who);
    }
  }

  std::array<Player, 2> players_;
  std::string release_;
  std::string claim_;
  std::atomic<std::uint64_t> turns_ = 0;
};

// A release that hands over, the claim, and the one who released joins the end of the line.
class Circle final : public Subject {
 public:
  explicit Circle(std::size_t waiting) {
    holder_ = std::get<Granted>(store_->admit(request(VisitorId::random()))).token;
    for (std::size_t i = 0; i < waiting; ++i) join(VisitorId::random());
  }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const VisitorId next = line_.front();
      line_.pop_front();
      require(store_->release(holder_), "the lease was live");
      const VisitorId last = holder_.visitor;
      holder_ = std::get<Granted>(store_->admit(request(next))).token;
      join(last);
    }
  }
  void check(std::uint64_t /*operations*/) override {
    require(store_->look(gate_)->line.size() == line_.size(), "everybody is still in line");
  }

 private:
  [[nodiscard]] Request request(const VisitorId& visitor) const {
    Request request{.gate = gate_, .visitor = visitor, .permits = permits(1)};
    request.line = {.join = true, .patience = kLong, .claim_window = kLong};
    return request;
  }
  void join(const VisitorId& visitor) {
    require(std::holds_alternative<Queued>(store_->admit(request(visitor))), "it waits");
    line_.push_back(visitor);
  }

  std::shared_ptr<Store> store_ = open_store(redis_uri(Way::unix_socket));
  std::string gate_ = unused_gate();
  Token holder_{.gate = gate_};
  std::deque<VisitorId> line_;
};

template <typename Type, typename... Arguments>
std::function<std::unique_ptr<Subject>()> make(Arguments... arguments) {
  return [=] { return std::make_unique<Type>(arguments...); };
}

}  // namespace

void add_redis_rows(std::vector<Row>& rows) {
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
                  .subject = make<HandOver>(),
                  .reference = make<PlainHandOver>(),
                  .time = Time::wall});
  rows.push_back({.name = "redis: 16 threads acquire + release",
                  .against = "16 plain hiredis threads, same scripts",
                  .aim = 1 / 0.95,
                  .subject = make<ManyThreads>(),
                  .reference = make<ManyPlainThreads>(),
                  .time = Time::wall});
  rows.push_back({.name = "redis: release, claim and join with 1 000 waiters",
                  .against = "with one",
                  .aim = 1.5,
                  .subject = make<Circle>(1'000),
                  .reference = make<Circle>(1),
                  .time = Time::wall});
}

}  // namespace airlock::bench

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "airlock/error.hpp"
#include "store/redis/pipeline.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/cpu_wait.hpp"
#include "store/support/failures.hpp"

// One connection, many callers.

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;
using testing::ChaosProxy;
using testing::cpu_wait;
using testing::failure_of;
using testing::RedisServer;
using testing::unused_prefix;
using Fault = ChaosProxy::Fault;

Commands command(std::initializer_list<std::string_view> words) {
  Commands commands;
  commands.add_all(words);
  return commands;
}

// Sleeps until the condition holds, which it does at last.
void await(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(1ms);
}

class SharedConnection : public ::testing::Test {
 protected:
  static RedisServer& server() { return RedisServer::shared(); }

  static std::unique_ptr<Pipeline> pipeline(Address address, Duration timeout = 10s,
                                            std::uint32_t replicas_ack = 0) {
    address.timeout = timeout;
    return std::make_unique<Pipeline>(
        std::make_unique<Connection>(address, nullptr, "test", Deadline(10s)), timeout,
        replicas_ack);
  }

  // Blocks the connection for this time: the server answers nothing that comes behind it.
  static Commands blocks(std::chrono::milliseconds time) {
    const double seconds = std::chrono::duration<double>(time).count();
    return command({"BLPOP", "nobody:" + unused_prefix(), std::to_string(seconds)});
  }
  // How many connections of this server are blocked now.
  static bool is_blocked() {
    return server().command({"INFO", "clients"}).find("blocked_clients:0") == std::string::npos;
  }

  ChaosProxy proxy_{server().socket(), server().folder()};
};

// What callers ask that each can tell from all others.
struct Tally {
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> wrong = 0;
  std::atomic<int> late = 0;
};

void echo(Pipeline& pipeline, const std::string& tag, const Deadline& deadline, Tally& tally) {
  constexpr auto kSlack = 50ms;
  const auto waited = cpu_wait();
  try {
    const Reply reply = pipeline.ask(command({"ECHO", tag}), deadline);
    ++(reply.text() == tag ? tally.answered : tally.wrong);
  } catch (const StoreError&) {
    ++tally.failed;
  }
  if (Deadline::Clock::now() - (cpu_wait() - waited) > deadline.at() + kSlack) ++tally.late;
}

void in_threads(int threads, const std::function<void(int)>& work) {
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&work, i] { work(i); });
}

// While some wait for their answers, what others ask goes out in few pieces.
TEST_F(SharedConnection, ManyCallersGetTheirOwnAnswersAndWriteForEachOther) {
  const auto shared = pipeline(proxy_.address());
  const std::uint64_t connections = proxy_.connections();
  const std::uint64_t requests = proxy_.requests();
  Tally tally;
  in_threads(64, [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      echo(*shared, std::to_string(thread) + "." + std::to_string(i), Deadline(10s), tally);
    }
  });
  EXPECT_EQ(tally.answered, 64 * 200);
  EXPECT_EQ(proxy_.connections(), connections);
  EXPECT_LT(proxy_.requests() - requests, 64 * 200 / 2);
}

TEST_F(SharedConnection, AReaderThatIsAnsweredHandsReadingOn) {
  const auto shared = pipeline(server().address());
  std::jthread first([&] { EXPECT_TRUE(shared->ask(blocks(100ms), Deadline(10s)).is_nil()); });
  await(is_blocked);
  EXPECT_TRUE(shared->ask(blocks(100ms), Deadline(10s)).is_nil());
}

TEST_F(SharedConnection, AReaderThatLeavesHandsReadingOnAndItsReplyIsDropped) {
  const auto shared = pipeline(server().address());
  std::jthread first([&] {
    const auto failure =
        failure_of([&] { (void)shared->ask(blocks(200ms), Deadline(50ms).cut_short()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->outcome(), Outcome::unknown);
  });
  await(is_blocked);
  EXPECT_EQ(shared->ask(command({"ECHO", "second"}), Deadline(10s)).text(), "second");
}

TEST_F(SharedConnection, WhoLeavesDelaysNobodyAndTheRepliesStayInOrder) {
  const auto shared = pipeline(server().address());
  std::jthread first([&] { EXPECT_TRUE(shared->ask(blocks(200ms), Deadline(10s)).is_nil()); });
  await(is_blocked);
  std::jthread second([&] {
    EXPECT_TRUE(failure_of([&] {
      (void)shared->ask(command({"ECHO", "second"}), Deadline(20ms).cut_short());
    }));
  });
  std::jthread third([&] {
    EXPECT_EQ(shared->ask(command({"ECHO", "third"}), Deadline(10s)).text(), "third");
  });
}

TEST_F(SharedConnection, WhoHasLeftIsForgottenByTheNextWhoAsksAlone) {
  const auto shared = pipeline(server().address());
  EXPECT_TRUE(failure_of([&] { (void)shared->ask(blocks(50ms), Deadline(10ms).cut_short()); }));
  EXPECT_EQ(shared->ask(command({"ECHO", "next"}), Deadline(10s)).text(), "next");
  EXPECT_FALSE(shared->is_broken());
}

TEST_F(SharedConnection, WhatAWriterCouldNotWriteIsWrittenByTheNext) {
  const auto shared = pipeline(proxy_.address());
  const std::string large(8'000'000, 'x');
  proxy_.isolate(getpid(), ChaosProxy::Way::to_server, 60s);
  const auto failure = failure_of([&] {
    (void)shared->ask(command({"SET", "large:" + unused_prefix(), large}),
                      Deadline(50ms).cut_short());
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome(), Outcome::unknown);
  proxy_.end_isolation();
  EXPECT_EQ(shared->ask(command({"ECHO", "next"}), Deadline(10s)).text(), "next");
}

TEST_F(SharedConnection, AServerThatSaysNothingFailsAllByTheirDeadlines) {
  const RedisServer own;
  const auto shared = pipeline(own.address(), 400ms);
  kill(own.pid(), SIGSTOP);
  Tally tally;
  in_threads(64, [&](int thread) {
    for (int i = 0; i < 3; ++i) {
      const Deadline deadline(std::chrono::milliseconds(20 + (thread * 7 + i * 13) % 100));
      echo(*shared, std::to_string(thread), deadline.cut_short(), tally);
    }
  });
  EXPECT_EQ(tally.failed, 64 * 3);
  EXPECT_EQ(tally.late, 0);
  EXPECT_FALSE(shared->is_silent());  // Callers with little time say nothing about it.
  EXPECT_TRUE(failure_of([&] { (void)shared->ask(command({"PING"}), Deadline(400ms)); }));
  EXPECT_TRUE(shared->is_silent());
  EXPECT_TRUE(shared->is_broken());
  kill(own.pid(), SIGCONT);
}

TEST_F(SharedConnection, WhoFindsItSilentSparesTheOthersTheirWait) {
  const RedisServer own;
  const auto shared = pipeline(own.address(), 400ms);
  kill(own.pid(), SIGSTOP);
  const auto began = Deadline::Clock::now();
  in_threads(8, [&](int thread) {
    const Duration time = thread == 0 ? Duration(400ms) : Duration(60s);
    const auto failure = failure_of([&] { (void)shared->ask(command({"PING"}), Deadline(time)); });
    EXPECT_TRUE(failure);
  });
  EXPECT_LT(Deadline::Clock::now() - began, 30s);
  kill(own.pid(), SIGCONT);
}

TEST_F(SharedConnection, ItIsBrokenWhenItsOldestCommandIsOlderThanTheTimeout) {
  const RedisServer own;
  const auto shared = pipeline(own.address(), 100ms);
  kill(own.pid(), SIGSTOP);
  EXPECT_TRUE(failure_of([&] { (void)shared->ask(command({"PING"}), Deadline(5ms).cut_short()); }));
  EXPECT_FALSE(shared->is_broken());
  await([&] { return shared->is_broken(); });
  EXPECT_TRUE(shared->is_silent());
  kill(own.pid(), SIGCONT);
}

// --- replicas ---

TEST_F(SharedConnection, OneWaitEndsABatchAndCountsForAll) {
  RedisServer own;
  const auto shared = pipeline(own.address(), 10s, 1);
  own.command({"CONFIG", "RESETSTAT"});
  in_threads(16, [&](int thread) {
    const Commands set = command({"SET", "key" + std::to_string(thread), "1"});
    const auto response = shared->exchange({.bytes = set.bytes(), .needs_ack = true}, Deadline(2s));
    EXPECT_FALSE(response.acknowledged);  // There are no replicas.
    EXPECT_EQ(response.replies.size(), 1U);
  });
  const std::string stats = own.command({"INFO", "commandstats"});
  EXPECT_THAT(stats, ::testing::HasSubstr("cmdstat_set:calls=16,"));
  EXPECT_THAT(stats, ::testing::ContainsRegex("cmdstat_wait:calls=[12345],"));
}

TEST_F(SharedConnection, NothingIsWrittenBehindAWaitAndWhoHasNoTimeTakesItBack) {
  RedisServer own;
  const auto shared = pipeline(own.address(), 10s, 1);
  std::jthread first([&] {
    const auto response = shared->exchange(
        {.bytes = command({"SET", "first", "1"}).bytes(), .needs_ack = true}, Deadline(2s));
    EXPECT_FALSE(response.acknowledged);
  });
  await([&] { return own.command({"GET", "first"}) == "1"; });
  const auto failure = failure_of([&] {
    (void)shared->ask(command({"SET", "second", "1"}), Deadline(20ms).cut_short());
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome(), Outcome::nothing_happened);
  first.join();
  EXPECT_EQ(shared->ask(command({"GET", "second"}), Deadline(10s)).text(), "");
}

// --- what a network does ---

// Every caller has its own answer or an error, whatever is lost. A new connection when one breaks.
class Sharers {
 public:
  explicit Sharers(std::function<std::shared_ptr<Pipeline>()> open) : open_(std::move(open)) {}

  void ask(const std::string& tag, Duration time, Tally& tally) {
    const std::shared_ptr<Pipeline> shared = get();
    if (shared) echo(*shared, tag, Deadline(time).cut_short(), tally);
  }

 private:
  std::shared_ptr<Pipeline> get() {
    const std::lock_guard lock(mutex_);
    try {
      if (!pipeline_ || pipeline_->is_broken()) pipeline_ = open_();
    } catch (const StoreError&) {
      pipeline_ = nullptr;
    }
    return pipeline_;
  }

  const std::function<std::shared_ptr<Pipeline>()> open_;
  std::mutex mutex_;
  std::shared_ptr<Pipeline> pipeline_;
};

class BadNetwork : public SharedConnection, public ::testing::WithParamInterface<Fault> {};

TEST_P(BadNetwork, NobodyGetsSomebodyElsesAnswerOrWaitsTooLong) {
  Sharers sharers([&] { return pipeline(proxy_.address(), 200ms); });
  Tally tally;
  sharers.ask("warm", 10s, tally);
  proxy_.set(GetParam(), 2);
  in_threads(64, [&](int thread) {
    for (int i = 0; i < 50; ++i) {
      const auto time = std::chrono::milliseconds(5 + (thread * 31 + i * 17) % 100);
      sharers.ask(std::to_string(thread) + "." + std::to_string(i), time, tally);
    }
  });
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(tally.late, 0);
  EXPECT_GT(tally.answered, 1);
  EXPECT_GT(proxy_.faults(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, BadNetwork,
                         ::testing::Values(Fault::lose_reply, Fault::hold_reply,
                                           Fault::hold_request, Fault::single_bytes, Fault::slow,
                                           Fault::any));

// The connection ends at every byte of eight requests, and at every byte of their replies.
TEST_F(SharedConnection, WhereverTheConnectionEndsEveryCallerIsToldOnce) {
  constexpr int kCallers = 8;
  constexpr std::int64_t kBytes = kCallers * 22;  // As "*2\r\n$4\r\nECHO\r\n$2\r\nt0\r\n" is.
  for (const bool of_replies : {false, true}) {
    for (std::int64_t bytes = 0; bytes < (of_replies ? kCallers * 8 : kBytes); ++bytes) {
      const auto shared = pipeline(proxy_.address());
      of_replies ? proxy_.cut_reply_after(bytes) : proxy_.cut_request_after(bytes);
      Tally tally;
      in_threads(kCallers, [&](int thread) {
        echo(*shared, "t" + std::to_string(thread), Deadline(10s), tally);
      });
      ASSERT_EQ(tally.answered + tally.failed, kCallers) << bytes;
      ASSERT_GT(tally.failed, 0) << bytes;
      ASSERT_EQ(tally.late, 0) << bytes;
    }
  }
}

}  // namespace
}  // namespace airlock::redis

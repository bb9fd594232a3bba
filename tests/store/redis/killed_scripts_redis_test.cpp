#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "airlock/store.hpp"
#include "model/support/operation.hpp"
#include "model/support/trial_seed.hpp"
#include "store/redis/call.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/support/twins.hpp"
#include "store/support/any_clock.hpp"
#include "store/support/failures.hpp"
#include "support/paths.hpp"

// Scripts that do not come to their end, whatever the reason: every command of every step is refused once.
// The next step finds a gate whose parts do not agree, and repairs it.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::RedisServer;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class KilledScripts : public ::testing::Test {
 protected:
  std::string command(const std::vector<std::string>& words) { return server_.command(words); }

  Store open(const redis::Scripts& scripts) {
    return redis::make_store({.address = server_.address(),
                              .prefix = "test",
                              .timeout = 10s,
                              .scripts = &scripts,
                              .stepped = &clock_,
                              .seed = [] { return 7; }});
  }

  // kSound, or what does not agree in a gate.
  static constexpr std::string_view kSound = "it is sound";
  std::string state_of(const GateName& gate) {
    static const std::string kCheck =
        "local function server_time() return 0, 0 end\n" + text_of(AIRLOCK_LUA_DIR "/formats.lua") +
        text_of(testing::source_dir() + "/tests/store/redis/support/check_gate.lua");
    std::vector<std::string> words = {"EVAL", kCheck, "5"};
    for (const std::string_view part : redis::Naming::kParts) {
      words.push_back(redis::Naming("test").key(gate, part));
    }
    words.emplace_back("1");
    return command(words);
  }

  // Whether the step was made although its n-th command was to fail.
  template <typename Step>
  bool is_made(int n, const Step& step) {
    command({"SET", "fail_at", std::to_string(n)});
    bool made = true;
    try {
      step(failing_);
    } catch (const StoreError& error) {
      EXPECT_NE(std::string(error.what()).find("refused"), std::string::npos) << error.what();
      made = false;
    }
    command({"DEL", "fail_at"});
    return made;
  }

  RedisServer server_;
  testing::AnyClock clock_;
  const Store store_ = open(stepped::scripts());
  const Store failing_ = open(stepped::failing_scripts());
};

// Every command of every step, in states that come about by chance.
TEST_F(KilledScripts, AreMadeGoodByTheNextStep) {
  constexpr int kEpisodes = 3;
  constexpr int kSteps = 120;
  const std::uint64_t seed = trial::trial_seed();
  int killed = 0;
  for (std::uint64_t number = seed; number < seed + kEpisodes; ++number) {
    command({"FLUSHALL"});
    trial::Profile profile{.gates = 2, .visitors = 8, .long_waits = false};
    profile.plain = number % 2 == 0;
    profile.owners_end = false;
    trial::Generator generator(number, profile);
    std::deque<Token> tokens = {{store_.id(), "g/0", {}, 1}};
    for (int i = 0; i < kSteps; ++i) {
      const trial::Operation operation = generator.next();
      clock_.advance(operation.after);
      if (!trial::is_valid(operation)) continue;
      const Token token = tokens[operation.token % tokens.size()];
      const auto step = [&](const Store& store) {
        const trial::Reply reply = trial::perform(store, operation, token, profile.gates);
        if (const auto* answer = std::get_if<Answer>(&reply)) {
          if (const auto* granted = std::get_if<Granted>(answer)) {
            tokens.push_front(granted->token);
          }
        }
      };
      for (int n = 1; !is_made(n, step); ++n) {
        ++killed;
        for (std::size_t gate = 0; gate < profile.gates; ++gate) {
          const GateName name = trial::gate_text(gate);
          (void)store_.look(name);
          ASSERT_EQ(state_of(name), kSound) << "AIRLOCK_SEED=" << number << " step " << i
                                            << " command " << n << ": " << operation.text();
        }
      }
    }
  }
  EXPECT_GT(killed, 1'000);
}

// With one limit for all, whoever was told that it is inside is inside, and nobody beyond the limit.
TEST_F(KilledScripts, LetNobodyInWhoDoesNotFitAndNobodyOut) {
  constexpr std::uint32_t kLimit = 3;
  const GateName gate = "gate";
  std::mt19937_64 random(trial::trial_seed());
  const auto below = [&](std::uint64_t n) { return random() % n; };
  struct Held {
    Token token;
    Instant till;
  };
  std::map<VisitorId, Held> held;
  for (int i = 0; i < 3'000; ++i) {
    clock_.advance(below(4) == 0 ? 3s : 10ms);
    const VisitorId visitor{7, 1 + below(8)};
    const Token token =
        held.contains(visitor) ? held.at(visitor).token : Token{store_.id(), gate, visitor, 1};
    held.erase(visitor);  // Whatever becomes of it now.
    Request ask = asks(gate, visitor, kLimit);
    ask.permits->weight = 1 + static_cast<std::uint32_t>(below(2));
    ask.permits->ttl = 1min;
    ask.line.join = below(2) == 0;
    const std::uint64_t which = below(8);
    (void)is_made(1 + static_cast<int>(below(30)), [&](const Store& store) {
      if (which < 5) {
        const Answer answer = store.admit(ask);
        if (const auto* granted = std::get_if<Granted>(&answer)) {
          held.insert_or_assign(visitor, Held{granted->token, clock_.now() + granted->expires_in});
        }
      } else if (which == 5) {
        (void)store.release(token);
      } else if (which == 6) {
        (void)store.leave(gate, visitor);
      } else {
        (void)store.revoke(gate, visitor, Revoke::now);
      }
    });
    const auto view = store_.look(gate);
    ASSERT_EQ(state_of(gate), kSound) << i;
    if (!view) continue;
    ASSERT_LE(view->counts.in_use, kLimit) << i;
    std::set<VisitorId> inside;
    for (const HolderView& holder : view->holders) inside.insert(holder.visitor);
    std::erase_if(held, [&](const auto& one) { return one.second.till <= clock_.now(); });
    for (const auto& [who, what] : held) ASSERT_TRUE(inside.contains(who)) << i;
  }
}

// Somebody deletes, or a server evicts, a key or a record of a gate; or an older program has written
// what cannot be.
TEST_F(KilledScripts, AGateThatHasLostAPartIsMadeAgainFromTheRest) {
  constexpr std::uint32_t kMany = 150;  // More than one portion.
  const GateName gate = "gate";
  const auto key = [&](std::string_view part) { return redis::Naming("test").key(gate, part); };
  std::vector<Token> tokens;
  for (const std::vector<std::string>& loss : std::vector<std::vector<std::string>>{
           {"DEL", key(":in")},
           {"DEL", key(":out")},
           {"DEL", key(":line")},
           {"DEL", key(":free")},
           {"HDEL", key(":gate"), "s"},
           {"HSET", key(":gate"), "s", "v17"},
           {"HSET", key(":gate"), "0123456789abcdef", "no record", "s", ""},
           {"ZADD", key(":line"), "1", "nobody"},
           {"ZPOPMIN", key(":in"), "20"},
           {"ZPOPMIN", key(":line"), "20"}}) {
    command({"FLUSHALL"});
    tokens.clear();
    for (std::uint32_t i = 0; i < kMany; ++i) {
      tokens.push_back(
          std::get<Granted>(store_.admit(asks(gate, VisitorId::random(), kMany))).token);
    }
    for (std::uint32_t i = 10; i < 20; ++i) EXPECT_TRUE(store_.release(tokens[i]));
    Request heavy = asks(gate, VisitorId::random(), kMany);
    heavy.permits->weight = 11;
    heavy.line.join = true;
    std::vector<VisitorId> line;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      heavy.visitor = VisitorId::random();
      line.push_back(heavy.visitor);
      ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(heavy)));
    }
    ASSERT_EQ(state_of(gate), kSound);
    command(loss);
    EXPECT_EQ(store_.counts({&gate, 1}).front().in_use, kMany - 10) << loss[0] << ' ' << loss[1];
    EXPECT_EQ(store_.renew(tokens[0], 1min), Renewal::renewed);
    EXPECT_EQ(state_of(gate), kSound) << loss[0] << ' ' << loss[1];
    EXPECT_EQ(store_.counts({&gate, 1}).front().in_use, kMany - 10);
    EXPECT_EQ(store_.look(gate)->line.at(0).visitor, line[0]);
    EXPECT_EQ(store_.look(gate)->line.size(), kMany);
    EXPECT_TRUE(store_.release(tokens[5]));  // Now the first of the line fits.
    EXPECT_EQ(store_.look(gate)->line.size(), kMany - 1);
    EXPECT_EQ(state_of(gate), kSound);
  }
}

TEST_F(KilledScripts, AGateWhoseHashIsGoneBeginsAnew) {
  const GateName gate = "gate";
  const auto enters = [&] {
    return std::holds_alternative<Granted>(store_.admit(asks(gate, VisitorId::random(), 2)));
  };
  Request waits = asks(gate, VisitorId::random(), 2);
  waits.line.join = true;
  EXPECT_TRUE(enters() && enters());
  EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(waits)));
  command({"DEL", redis::Naming("test").key(gate, ":gate")});
  EXPECT_TRUE(enters());
  (void)store_.look(gate);
  EXPECT_EQ(state_of(gate), kSound);
  EXPECT_TRUE(enters());
  EXPECT_FALSE(enters());
  EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(waits)));
  EXPECT_EQ(state_of(gate), kSound);
}

// A script can be killed until it has written something.
TEST_F(KilledScripts, ByAnOperatorChangeNothing) {
  RedisServer& server = server_;
  server.command({"CONFIG", "SET", "busy-reply-threshold", "1"});
  const GateName gate = "gate";
  const Token ann = std::get<Granted>(store_.admit(asks(gate, VisitorId::random()))).token;
  Request waits = asks(gate, VisitorId::random());
  waits.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(waits)));
  const std::string before = command({"DUMP", redis::Naming("test").key(gate, ":gate")});
  redis::Connection admin(server.address(), nullptr, "admin", redis::Deadline(10s));
  for (const char* at : {"1", "2", "3"}) {
    command({"SET", "spin_at", at});
    std::thread step([&] { EXPECT_THROW((void)failing_.release(ann), StoreError); });
    redis::Commands kill;
    kill.add_all({"SCRIPT", "KILL"});
    while (admin.ask(kill, redis::Deadline(10s)).is_error()) std::this_thread::sleep_for(1ms);
    step.join();
    EXPECT_EQ(command({"DUMP", redis::Naming("test").key(gate, ":gate")}), before) << at;
  }
  command({"DEL", "spin_at"});
  EXPECT_TRUE(store_.release(ann));
  EXPECT_EQ(state_of(gate), kSound);
}

}  // namespace
}  // namespace airlock

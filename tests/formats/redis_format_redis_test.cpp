#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "airlock/testing.hpp"
#include "formats/support/golden.hpp"
#include "formats/support/record.hpp"
#include "store/redis/call.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/wire.hpp"
#include "testing/stepped_clock.hpp"

// What the scripts write, as other builds will find it.

namespace airlock::formats {
namespace {

using namespace std::chrono_literals;
using testing::RedisServer;

class RedisFormat : public ::testing::Test {
 protected:
  static constexpr std::string_view kPrefix = "golden";

  void admits(std::string_view name, Hold hold) {
    const std::array rates = {
        Rate{.count = 2, .period = 1s, .burst = 3},
        Rate{.count = 5, .period = 1min, .algorithm = Rate::Algorithm::sliding_window}};
    (void)store_.admit({.gate = "erp",
                        .visitor = VisitorId::named(name),
                        .label = name,
                        .permits = Permits{.limit = 2, .ttl = 30s},
                        .rates = rates,
                        .line = {.join = true,
                                 .order = Order::aging_lottery,
                                 .aging = {.base = 2, .per_second = 3, .max = 50}},
                        .hold = hold});
    clock_.advance(1500ms);
  }

  // A field of the gate's hash. Channels have random names.
  std::string field(const std::string& name, std::string field) {
    std::string bytes = server_.command({"HGET", key(":gate"), std::move(field)});
    const std::string wake = std::string(kPrefix) + ":wake:";
    if (const std::size_t at = bytes.find(wake); at != std::string::npos) {
      const auto length = static_cast<unsigned char>(bytes[at - 2]);
      bytes.replace(at + wake.size(), length - wake.size(), length - wake.size(), '.');
    }
    return name + ", " + std::to_string(bytes.size()) + " bytes\n" + hex_lines(bytes);
  }

  std::string score(std::string_view part, std::string_view name) {
    return std::string(name) + " in " + std::string(part) + ": " +
           server_.command({"ZSCORE", key(part), redis::pack_visitor(VisitorId::named(name))}) +
           "\n";
  }

  [[nodiscard]] static std::string key(std::string_view part) {
    return redis::Naming(std::string(kPrefix)).key("erp", part);
  }

  RedisServer server_;
  internal::SteppedClock clock_;
  const Store store_ = redis::make_store({.address = server_.address(),
                                          .prefix = std::string(kPrefix),
                                          .timeout = 5s,
                                          .scripts = &stepped::scripts(),
                                          .stepped = &clock_});
};

TEST_F(RedisFormat, ChangesWithItsVersionOnly) {
  admits("ann", Hold::bound);
  admits("bob", Hold::bound);
  admits("cid", Hold::detached);  // One in the line: who is drawn of several is chance.
  store_.set_limit("erp", 2);
  store_.pause("erp", 20s, "monitor");
  std::string text = "hash of " + server_.command({"HLEN", key(":gate")}) + " fields\n";
  text += field("m, the gate", "m") + field("c, counters", "c") + field("t, tiers", "t") +
          field("p, pauses", "p") + field("s, whether it is sound", "s");
  for (const std::string_view name : {"ann", "bob", "cid"}) {
    text += field(std::string(name), redis::pack_visitor(VisitorId::named(name)));
    for (const std::string_view part : {":in", ":out", ":line"}) text += score(part, name);
  }
  const int schema = server_.command({"HGET", key(":gate"), "m"}).at(0);
  expect_golden({.name = "redis",
                 .version = schema,
                 .version_is_in = "SCHEMA in src/store/redis/lua/formats.lua"},
                text);
}

}  // namespace
}  // namespace airlock::formats

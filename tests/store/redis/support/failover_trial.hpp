#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "store/redis/support/sentinels.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/asker.hpp"
#include "store/support/grants.hpp"
#include "store/support/waiters.hpp"
#include "support/chaos.hpp"

namespace airlock::testing {

// One failover while clients ask, wait and hold:
//
// - who asks every 20 ms is let in again a second after the sentinels have a primary, at the latest;
// - fences go on growing;
// - what was granted with replicas_ack on all replicas is known to the new primary;
// - who waits is told by the new primary that it is its turn.
//
// Leaves everything as it was, with another primary. Says what went wrong, too.
inline ChaosRow try_failover(RedisSentinels& sentinels, Loss loss) {
  using namespace std::chrono_literals;
  const std::string prefix = "prefix=" + unused_prefix();
  const auto opened = [&](const std::string& options) {
    return open_store(sentinels.uri(prefix + options));
  };
  Waiters waiters(opened(""), {"w0", "w1", "w2", "w3", "w4"});
  Asker asker(opened(""), "asked");
  Grants acknowledged(opened("&replicas_ack=2"), "acknowledged", 3);
  Grants plain(opened(""), "plain", 2);
  std::this_thread::sleep_for(300ms);

  const RedisSentinels::Failover failover = sentinels.fail_over(loss);
  const TimePoint promoted = failover.began + failover.outage;
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(promoted); }, 5s))
      << asker.last_failure();
  acknowledged.stop();
  plain.stop();
  std::this_thread::sleep_until(promoted + 1s);
  asker.stop();
  const std::chrono::milliseconds handed_over = waiters.let_in();

  const bool late = asker.longest_outage() > failover.outage + 1s;
  EXPECT_FALSE(late) << asker.story(promoted);
  asker.expect_growing_fences();
  const auto checker = opened("&timeout=5s");
  (void)checker.look("plain0");
  EXPECT_GT(acknowledged.count(), 0U);
  const std::size_t lost = acknowledged.lost_at(checker);
  EXPECT_EQ(lost, 0U) << "of " << acknowledged.count();
  std::cout << (loss == Loss::killed ? "killed: " : "stopped: ")
            << "sentinels without a primary for " << failover.outage.count() << " ms, clients for "
            << asker.longest_outage().count() << " ms; handed over in " << handed_over.count()
            << " ms; of " << acknowledged.count() << " acknowledged grants 0 lost, of "
            << plain.count() << " others " << plain.lost_at(checker) << std::endl;
  sentinels.bring_back();
  // What the new primary does not know, it would grant again.
  return {.faults = 1,
          .operations = asker.entered() + asker.failed() + acknowledged.count() + plain.count(),
          .over_admissions = lost,
          .order_violations = asker.fences_that_do_not_grow(),
          .late_returns = late ? 1 : 0};
}

}  // namespace airlock::testing

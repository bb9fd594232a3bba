#include "store/redis/support/sentinels.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

// `name`, `value`, `name`, `value`, a line each.
std::map<std::string, std::string> fields_of(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) fields[lines[i]] = lines[i + 1];
  return fields;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

RedisSentinels::RedisSentinels(SentinelsOptions options) : options_(std::move(options)) {
  for (std::size_t i = 0; i < kEach; ++i) {
    servers_.push_back(std::make_unique<RedisProcess>(
        address(options_.hosts[i], ports_[i], options_.password), options_.launcher));
    sentinels_.push_back(std::make_unique<RedisProcess>(
        address(options_.hosts[i], ports_[kEach + i], options_.sentinel_password),
        options_.launcher));
  }
  for (std::size_t i = 0; i < kEach; ++i) {
    start_server(i, i == 0 ? std::vector<std::string>{} : replica_of(0));
  }
  wait_until("the replicas are in sync", [this] { return is_replicated(); });
  for (std::size_t i = 0; i < kEach; ++i) start_sentinel(i);
  wait_until_ready();
}

redis::Address RedisSentinels::address(const std::string& host, const FreePort& port,
                                       const std::string& password) const {
  redis::Address address{.host = host, .port = port.number()};
  address.password = password;
  return address;
}

std::vector<std::string> RedisSentinels::replica_of(std::size_t primary) const {
  return {"--replicaof", options_.hosts[primary], ports_[primary].text()};
}

void RedisSentinels::start_server(std::size_t i, const std::vector<std::string>& role) {
  std::vector<std::string> words = forgetful_in(dir_.path() + "/server" + std::to_string(i));
  // Without a disk in between a replica would wait a second for what comes after the first copy.
  words.insert(words.end(), {"--port", ports_[i].text(), "--bind", options_.hosts[i],
                             "--repl-diskless-sync", "no", "--repl-ping-replica-period", "1",
                             "--protected-mode", "no", "--replica-announce-ip", options_.hosts[i]});
  if (!options_.password.empty()) {
    for (const char* const name : {"--requirepass", "--masterauth"}) {
      words.insert(words.end(), {name, options_.password});
    }
  }
  words.insert(words.end(), role.begin(), role.end());
  servers_[i]->start(words);
}

void RedisSentinels::start_sentinel(std::size_t i) {
  const std::string own = dir_.path() + "/sentinel" + std::to_string(i);
  std::filesystem::create_directories(own);
  std::ofstream config(own + "/sentinel.conf");
  config << "port " << ports_[kEach + i].number() << "\nbind " << options_.hosts[i] << "\ndir "
         << own << "\nlogfile " << own << "/log\n"
         << "sentinel announce-ip " << options_.hosts[i] << "\n"
         << "sentinel monitor main " << options_.hosts[0] << " " << ports_[0].number() << " 2\n"
         << "sentinel down-after-milliseconds main 600\n"
         << "sentinel failover-timeout main 1500\n"
         << "sentinel parallel-syncs main 2\n";
  if (!options_.password.empty()) config << "sentinel auth-pass main " << options_.password << "\n";
  if (!options_.sentinel_password.empty()) {
    config << "requirepass " << options_.sentinel_password << "\nsentinel sentinel-pass "
           << options_.sentinel_password << "\n";
  }
  config.close();
  sentinels_[i]->start({own + "/sentinel.conf", "--sentinel"});
  // Replicas are looked at once a second in a failover, and are no good after five ping periods.
  // Everything else would take seconds: to find each other, to see that a server is back or
  // promoted, to trust the own clock again after having been stopped.
  (void)sentinels_[i]->command({"SENTINEL", "DEBUG", "info-period", "100", "ping-period", "300",
                                "publish-period", "100", "ask-period", "100", "tilt-period", "500",
                                "election-timeout", "1000"});
}

std::string RedisSentinels::uri(const std::string& options) const {
  std::string text = "redis+sentinel://";
  if (!options_.password.empty()) text += ":" + options_.password + "@";
  for (std::size_t i = 0; i < kEach; ++i) {
    text += (i == 0 ? "" : ",") + options_.hosts[i] + ":" + ports_[kEach + i].text();
  }
  return text + "/main" + (options.empty() ? "" : "?" + options);
}

bool RedisSentinels::is_primary(std::size_t i) const {
  return servers_[i]->try_command({"ROLE"}).starts_with("master\n");
}

// Sentinels cut the connections of a server whose role they change, so it may take a second try.
std::size_t RedisSentinels::primary() {
  std::size_t i = 0;
  wait_until("there is a primary", [&] {
    for (i = 0; i < kEach; ++i) {
      if (is_primary(i)) return true;
    }
    return false;
  });
  return i;
}

std::vector<std::size_t> RedisSentinels::replicas() {
  std::vector<std::size_t> others;
  const std::size_t primary = this->primary();
  for (std::size_t i = 0; i < kEach; ++i) {
    if (i != primary) others.push_back(i);
  }
  return others;
}

bool RedisSentinels::names(const RedisProcess& sentinel, std::size_t i) const {
  return sentinel.try_command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"}) ==
         options_.hosts[i] + "\n" + ports_[i].text() + "\n";
}

// A replica may be connected and yet be sent nothing, so something is said and must arrive.
bool RedisSentinels::is_replicated() {
  const auto offset_of = [](const std::string& name, const std::string& info) {
    const std::string text = value_of(name, info);
    return text.empty() ? -1 : std::stoll(text);
  };
  const std::size_t primary = this->primary();
  (void)servers_[primary]->try_command({"PUBLISH", "airlock-test", "sync"});
  const std::string said = servers_[primary]->try_command({"INFO", "replication"});
  if (count(said, "state=online") != 2) return false;
  const long long offset = offset_of("master_repl_offset", said);
  for (std::size_t i = 0; i < kEach; ++i) {
    if (i == primary) continue;
    const std::string heard = servers_[i]->try_command({"INFO", "replication"});
    if (value_of("master_link_status", heard) != "up") return false;
    if (offset_of("slave_repl_offset", heard) < offset) return false;
  }
  return true;
}

bool RedisSentinels::is_content(const RedisProcess& sentinel, std::size_t primary) const {
  const auto main = fields_of(sentinel.try_command({"SENTINEL", "MASTER", "main"}));
  const auto is = [&](const char* name, const std::string& value) {
    const auto found = main.find(name);
    return found != main.end() && found->second == value;
  };
  const std::string replicas = sentinel.try_command({"SENTINEL", "REPLICAS", "main"});
  return is("port", ports_[primary].text()) && is("ip", options_.hosts[primary]) &&
         is("flags", "master") && is("num-slaves", "2") && is("num-other-sentinels", "2") &&
         count(replicas, "\nflags\nslave\n") == 2 &&
         count(replicas, "\nmaster-link-status\nok\n") == 2;
}

void RedisSentinels::wait_until_ready() {
  wait_until("the replicas are in sync", [this] { return is_replicated(); });
  wait_until("the sentinels agree", [this] {
    const std::size_t named = primary();
    for (const auto& sentinel : sentinels_) {
      if (sentinel->is_running() && !is_content(*sentinel, named)) return false;
    }
    return true;
  });
}

RedisSentinels::Failover RedisSentinels::fail_over(std::size_t primary, Loss loss) {
  Failover failover{.before = primary, .after = 0, .began = Steady::now(), .outage = 0ms};
  RedisProcess& lost = server(failover.before);
  loss == Loss::killed ? lost.kill() : lost.stop();
  std::optional<std::size_t> promoted;
  const auto is_named = [&] {
    return std::ranges::any_of(sentinels_, [&](auto& each) { return names(*each, *promoted); });
  };
  while (!promoted || !is_named()) {
    for (std::size_t i = 0; i < kEach && !promoted; ++i) {
      if (i != failover.before && is_primary(i)) promoted = i;
    }
    if (Steady::now() > failover.began + 20s) throw std::runtime_error("no failover within 20 s");
    std::this_thread::sleep_for(2ms);
  }
  failover.after = *promoted;
  failover.outage =
      std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - failover.began);
  return failover;
}

std::size_t RedisSentinels::agreed_primary() {
  std::size_t primary = 0;
  wait_until("the sentinels name the same primary", [&] {
    for (primary = 0; primary < kEach; ++primary) {
      const auto agrees = [&](auto& each) { return !each->is_running() || names(*each, primary); };
      if (std::ranges::all_of(sentinels_, agrees)) return true;
    }
    return false;
  });
  return primary;
}

// A sentinel that has not heard of the new primary would make it a replica of the old one again.
void RedisSentinels::bring_back() {
  for (const auto& sentinel : sentinels_) sentinel->go_on();
  const std::size_t primary = agreed_primary();
  for (std::size_t i = 0; i < kEach; ++i) {
    if (servers_[i]->state() == RedisProcess::State::dead) start_server(i, replica_of(primary));
    if (servers_[i]->state() == RedisProcess::State::stopped) {
      servers_[i]->go_on();
      // The sentinels would tell it in ten seconds.
      (void)servers_[i]->command({"REPLICAOF", options_.hosts[primary], ports_[primary].text()});
    }
  }
  wait_until_ready();
}

}  // namespace airlock::testing

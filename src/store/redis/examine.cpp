#include "store/redis/examine.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "store/redis/failure.hpp"
#include "store/redis/info.hpp"

namespace airlock::redis {
namespace {

using Level = Finding::Level;
using std::chrono::microseconds;

constexpr Duration kSlow = std::chrono::milliseconds(10);
constexpr Duration kClocksDiffer = std::chrono::seconds(1);
constexpr int kOldest = 7;  // The major version that this is tested with.

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Examination {
 public:
  Examination(Client& client, const Options& options) : client_(client), options_(options) {}

  std::vector<Finding> findings(const Call& rights, const std::function<bool()>& can_hear) {
    const std::vector<NodePtr> nodes = client_.nodes(Deadline(options_.timeout));
    for (const NodePtr& node : nodes) {
      node_ = node.get();
      check_server(nodes.size() > 1);
    }
    check_rights(rights);
    check_subscription(can_hear);
    return std::move(findings_);
  }

 private:
  void check_server(bool is_one_of_many) {
    about_.clear();
    const std::string where = node_->pool.take(0, Deadline(options_.timeout))->where();
    check_way(where);
    if (is_one_of_many) about_ = where + ": ";
    check_latency();
    check_clock();
    const std::string info = ask_info();
    if (info.empty()) return;
    check_version(info);
    check_role(info);
    check_eviction(info);
    check_memory(info);
    check_persistence(info);
    check_replicas(info);
  }

  void add(Level level, const std::string& what, std::string remedy = {}) {
    findings_.push_back({level, about_ + what, std::move(remedy)});
  }
  void good(const std::string& what) { add(Level::good, what); }

  Reply ask(std::initializer_list<std::string_view> command) {
    Commands commands;
    commands.add_all(command);
    const Deadline deadline(options_.timeout);
    return node_->pool.take(0, deadline)->ask(commands, deadline);
  }

  void check_way(const std::string& server) {
    const bool stays_here =
        server.starts_with('/') || server.starts_with("localhost:") || server.starts_with("127.");
    const Reply pong = ask({"PING"});
    if (pong.is_error() && !is_denied(pong.text())) throw refusal_of(pong.text());
    const std::string where = "reaches " + server;
    if (options_.address.tls) return good(where + " with TLS");
    if (stays_here) return good(where + "; no TLS, and none is needed on one host");
    add(Level::warning, where + " without TLS: passwords and tokens can be read on the way",
        "use rediss:// and a server with tls-port, unless the network is yours alone");
  }

  void check_latency() {
    std::array<Duration, 5> times;
    for (Duration& time : times) {
      const auto began = Deadline::Clock::now();
      (void)ask({"PING"});
      time = std::chrono::duration_cast<Duration>(Deadline::Clock::now() - began);
    }
    std::ranges::sort(times);
    const Duration median = times[times.size() / 2];
    const std::string what = "answers in " + to_text(median);
    if (median <= kSlow) return good(what);
    add(Level::warning, what + ", and every admission takes that long",
        "look for a slow network, slow commands (SLOWLOG GET) or a server that swaps");
  }

  void check_clock() {
    const auto wall = [] {
      return std::chrono::duration_cast<Duration>(
          std::chrono::system_clock::now().time_since_epoch());
    };
    const Duration before = wall();
    const Reply time = ask({"TIME"});
    const Duration after = wall();
    if (time.size() != 2) return;  // Not allowed: said among the rights.
    const Duration server(number_of(time.at(0).text()) * 1'000'000 + number_of(time.at(1).text()));
    const Duration apart =
        server < before ? before - server : std::max(server - after, Duration(0));
    if (apart < kClocksDiffer) return good("its clock and this host's agree");
    add(Level::warning,
        "its clock is " + to_text(std::chrono::round<std::chrono::seconds>(apart)) +
            (server < before ? " behind" : " ahead of") + " this host's",
        "synchronize both by NTP: leases follow the server's clock alone, but a failover to a "
        "server with "
        "a different clock shortens or lengthens them");
  }

  std::string ask_info() {
    const Reply info = ask({"INFO"});
    if (!info.is_error()) return std::string(info.text());
    add(Level::warning, "INFO is not allowed: version, role, eviction, persistence are not known",
        "ask an operator to allow +info");
    return {};
  }

  void check_version(std::string_view info) {
    const std::string version(info_value(info, "redis_version"));
    if (number_of(version) >= kOldest) return good("Redis " + version);
    add(Level::warning, "Redis " + version + " is older than what airlock is tested with",
        "use Redis " + std::to_string(kOldest) + " or later");
  }

  void check_role(std::string_view info) {
    const std::string_view role = info_value(info, "role");
    if (role == "master") return good("it is a primary");
    add(Level::problem, "it is a replica, which admits nobody",
        "name the primary: " + std::string(info_value(info, "master_host")) + ":" +
            std::string(info_value(info, "master_port")));
  }

  void check_eviction(std::string_view info) {
    const std::string policy(info_value(info, "maxmemory_policy"));
    const bool limited = info_value(info, "maxmemory") != "0";
    if (policy == "noeviction") return good("nothing is evicted (maxmemory-policy noeviction)");
    add(limited ? Level::problem : Level::warning,
        "maxmemory-policy is " + policy +
            (limited ? ": admissions may be evicted while they are held"
                     : ": once maxmemory is set, admissions may be evicted"),
        "CONFIG SET maxmemory-policy noeviction, also in redis.conf; or use a separate server");
  }

  void check_memory(std::string_view info) {
    const std::int64_t most = number_of(info_value(info, "maxmemory"));
    if (most == 0 || number_of(info_value(info, "used_memory")) < most) return;
    add(Level::problem, "its memory is full (maxmemory): nobody is admitted",
        "raise maxmemory, or remove other data");
  }

  void check_persistence(std::string_view info) {
    if (info_value(info, "aof_enabled") != "1") {
      return add(Level::warning, "without an append-only file a restart loses all admissions",
                 "appendonly yes, appendfsync everysec in redis.conf; or let clients wait for a "
                 "ttl after a restart");
    }
    const Reply config = ask({"CONFIG", "GET", "appendfsync"});
    const std::string policy(config.at(1).text());
    if (policy == "no") {
      return add(Level::warning, "appendfsync is no: a crash of the host may lose half a minute",
                 "CONFIG SET appendfsync everysec, also in redis.conf");
    }
    good("has an append-only file" + (policy.empty() ? "" : ", appendfsync " + policy) +
         (policy == "always" ? "" : "; a crash of its host may lose the last second"));
  }

  void check_replicas(std::string_view info) {
    const std::int64_t replicas = number_of(info_value(info, "connected_slaves"));
    if (replicas < options_.replicas_ack) {
      add(Level::problem,
          "replicas_ack=" + std::to_string(options_.replicas_ack) + ", but it has " +
              std::to_string(replicas) + " replicas: nobody is admitted",
          "add replicas, or ask for fewer");
    }
    if (options_.seeds.empty()) return;
    const Reply config = ask({"CONFIG", "GET", "min-replicas-to-write"});
    if (config.at(1).text() != "0") return;
    add(Level::warning,
        "min-replicas-to-write is 0: a primary that is cut off from its replicas continues to "
        "admit "
        "while another one does",
        "CONFIG SET min-replicas-to-write 1 and min-replicas-max-lag 2, also in redis.conf");
  }

  void check_rights(const Call& rights) {
    about_.clear();
    std::set<std::string, std::less<>> denied;
    const Reply failures =
        client_.run(rights, RetryPolicy::always, Deadline(options_.timeout)).reply;
    for (std::size_t i = 0; i < failures.size(); ++i) {
      const std::string_view failure = failures.at(i).text();
      if (is_denied(failure)) denied.emplace(failure.substr(0, failure.find(' ')));
    }
    for (const std::string_view command : {"PING", "TIME"}) {
      if (is_denied(ask({command}).text())) denied.emplace(command);
    }
    if (is_denied(ask({"SCAN", "0", "MATCH", options_.prefix + ":*"}).text()))
      denied.emplace("SCAN");
    if (denied.empty()) return good("scripts run, and the user may do all they need");
    std::string names;
    for (const std::string& name : denied) names += " " + name;
    add(Level::problem, "the user may not run" + names,
        "ask an operator to allow them; docs/stores.md has the whole ACL SETUSER line");
  }

  void check_subscription(const std::function<bool()>& can_hear) {
    if (can_hear()) {
      return good("waiters are notified (pub/sub)");
    }
    add(Level::problem, "a subscription is not possible: waiters have to poll",
        "ask an operator to allow +subscribe and the channels &" + options_.prefix +
            ":*, and look at maxclients");
  }

  Client& client_;
  const Options& options_;
  Node* node_ = nullptr;
  std::string about_;  // Which server, if there are several.
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine(Client& client, const Options& options, const Call& rights,
                             const std::function<bool()>& can_hear) {
  return Examination(client, options).findings(rights, can_hear);
}

}  // namespace airlock::redis

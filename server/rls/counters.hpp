#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace airlock::server::rls {

struct Part;

// What each limit has counted since the server was started, for /metrics. Safe from any thread.
//
// Limits have one series each. Those whose names come from requests (detailed_metric, limits that callers bring along) have at
// most kMaxSeries together; what comes after that is counted as "other".
class Counters {
 public:
  static constexpr std::size_t kMaxSeries = 1'000;

  void count(const Part& part, bool passes);
  void count_unknown_domain() noexcept { ++unknown_domains_; }

  // The text format of Prometheus, of the limits that `shows` says yes to.
  void write(std::ostream& out, const std::function<bool(std::string_view limit)>& shows) const;

 private:
  using Number = std::atomic<std::uint64_t>;

  // Hits, not requests.
  struct Tally {
    Number total = 0;
    Number within = 0;
    Number near = 0;  // Of those within: above 0.8 of the limit.
    Number over = 0;
    Number shadow = 0;  // Of those over: let through.
  };

  Tally& tally(const std::string& path, bool has_own_path);

  mutable std::shared_mutex mutex_;  // Of the map; numbers change under a shared lock.
  std::map<std::string, Tally, std::less<>> tallies_;  // By label.
  std::size_t own_paths_ = 0;
  Tally other_;
  Number unknown_domains_ = 0;
};

}  // namespace airlock::server::rls

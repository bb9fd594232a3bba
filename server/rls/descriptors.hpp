#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/rate.hpp"
#include "config/table_reader.hpp"
#include "rls/messages.hpp"

// Which limit counts for a descriptor: [[descriptors]] and [[domain]] of airlock.toml, in the words of envoyproxy/ratelimit.

namespace airlock::server::rls {

// How many hits per time.
struct RateRule {
  std::uint32_t requests = 0;  // 0: every request is over the limit.
  Unit unit = Unit::unknown;
  Rate rate = {};  // Where requests is not 0.
};

// How many at once, each held for the ttl unless it is given back before.
struct ConcurrencyRule {
  std::uint32_t limit = 0;
  Duration ttl{0};
};

struct Rule {
  std::string path;                        // domain.key_value.key, for metrics.
  std::string name = {};                   // By which others replace it.
  std::vector<std::string> replaces = {};  // Names.
  std::optional<RateRule> rate = {};       // At most one of the two. Neither: unlimited.
  std::optional<ConcurrencyRule> concurrency = {};
  bool is_shadow = false;    // Decided and counted, and let through.
  bool is_detailed = false;  // The values of the request are in the metrics.
};

// A rule, and the entries under which hits are counted: those of the request, but one pattern for all the values that share
// a limit.
struct Match {
  const Rule* rule = nullptr;
  std::vector<Entry> entries = {};
};

// The descriptors of one level. Of those with the key of an entry, the one with its value counts, else the first whose
// wildcard matches, else the one without value.
class Level {
 public:
  struct Node;

  Level();
  Level(Level&&) noexcept;
  Level& operator=(Level&&) noexcept;
  ~Level();

  // One table of descriptors. `path` is that of the level above.
  void add(TableReader& table, const std::string& path, int depth);

  // The limit is that of the last entry: a descriptor with fewer or more entries than its rule is deep has none. Nothing is
  // tried again at a higher level.
  [[nodiscard]] std::optional<Match> find(std::span<const Entry> entries) const;

 private:
  struct Choices;

  [[nodiscard]] const Node* choose(const Entry& entry) const;

  std::map<std::string, std::unique_ptr<Choices>, std::less<>> choices_;  // By key.
};

// Which fields describe the limit to the client of the proxy.
enum class Headers : std::uint8_t {
  none,
  split,  // RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, as envoyproxy/ratelimit has them.
  draft,  // RateLimit and RateLimit-Policy, as draft-ietf-httpapi-ratelimit-headers has them.
};

struct Domain {
  bool is_atomic = false;  // All descriptors of a request are decided in one step.
  bool is_shadow = false;  // Of all rules.
  Headers headers = Headers::none;
  Level descriptors = {};
};

class Descriptors {
 public:
  // Reads all [[domain]] and [[descriptors]] of the file.
  void read(TableReader& file);
  // Nothing: the domain is not known, and no limit counts.
  [[nodiscard]] const Domain* find(std::string_view domain) const;

 private:
  std::map<std::string, Domain, std::less<>> domains_;
};

// The rate of so many hits per period, paced so that every store takes it, to one part in a million. Nothing: a window
// cannot have that many.
[[nodiscard]] std::optional<Rate> make_rate(std::uint32_t requests, Duration period,
                                            Rate::Algorithm algorithm);

// 0 for unknown.
[[nodiscard]] Duration length_of(Unit unit) noexcept;

// Whether the text is what the pattern, in which * stands for any bytes, describes.
[[nodiscard]] bool wildcard_matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace airlock::server::rls

#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "airlock/duration.hpp"
#include "airlock/version.hpp"

namespace airlock {

// How much per time.
//
//   Rate{.count = 100, .period = 1s}                 100 per second, up to 100 at once
//   Rate{.count = 100, .period = 1s, .burst = 20}    the same pace, at most 20 at once
//
// count and burst are 1 to 2^31, period is 1 us to 365 days, burst (else count) * period and cost *
// period are at most 2^52 us; else InvalidArgument.
struct Rate {
  enum class Algorithm : std::uint8_t {
    gcra,            // A token bucket that refills continuously; one timestamp of state.
    sliding_window,  // The previous window counts by its overlap; aligned to the store's clock.
    fixed_window,    // A window starts at the first hit; may pass twice the count around an edge.
    no_limit,        // Always passes.
  };

  std::uint32_t count = 0;
  AnyDuration period = Duration(0);
  std::uint32_t burst = 0;  // GCRA only. 0: the same as count.
  Algorithm algorithm = Algorithm::gcra;

  // Reads `100/s`, `10/1m`, `100/s,burst=20`, `5/1h,sliding`, `5/1h,fixed`, `unlimited`; else
  // InvalidArgument.
  [[nodiscard]] static AIRLOCK_EXPORT Rate parse(std::string_view text);
  [[nodiscard]] AIRLOCK_EXPORT std::string text() const;

  template <typename Char, typename Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const Rate& rate) {
    return out << rate.text();
  }
  friend bool operator==(const Rate&, const Rate&) = default;
};

// At most this many tiers in one request; two with the same algorithm and period are
// InvalidArgument.
inline constexpr std::size_t kMaxRates = 8;

// With permits, a line to join, dedupe or a group only `take` is possible; the others are
// InvalidArgument there.
enum class RateMode : std::uint8_t {
  take,     // All of the cost or nothing.
  peek,     // Answers as take would; consumes nothing.
  at_most,  // As much of the cost as there is, at least 1; Granted::taken says how much.
  reserve,  // GCRA: granted up to max_delay ahead, 365 days at most; act after Granted::delay.
};

// What every answer says of the tightest tier, as it is once the answer is given.
struct RateInfo {
  std::uint32_t limit = 0;      // How much may be taken at once; 0: no rate was asked.
  std::uint32_t remaining = 0;  // How much may be taken now.
  Duration retry_after{0};      // When the same cost would pass; 0 if now; kForever if never.
  Duration reset_after{0};      // When the tier is as if never used.

  friend bool operator==(const RateInfo&, const RateInfo&) = default;
};

}  // namespace airlock

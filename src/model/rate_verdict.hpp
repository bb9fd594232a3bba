#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "model/rates.hpp"
#include "model/records.hpp"

namespace airlock::model {

// What all tiers together say.
struct RateVerdict {
  bool allowed = true;
  bool never = false;
  std::uint32_t taken = 0;
  Duration delay{0};
  RateInfo info;
  // For each tier, what charge_all() needs.
  struct Weighed {
    Tier* tier;
    Mixed after;
  };
  std::array<Weighed, kMaxRates> weighed;

  void add(std::size_t i, Tier* tier, const Tally& tally) noexcept;
};

// What a request asks of the rates of a gate.
struct RateAsk {
  std::span<const Rate> rates;
  RateMode mode = RateMode::take;
  std::uint32_t cost = 0;
  Duration max_delay{0};
};

}  // namespace airlock::model

#pragma once

#include <string_view>

#include "store/redis/wire.hpp"

namespace airlock::redis {

// The record of a gate as lua/read_gates.lua returns it. How a usual gate stands is computed here, because
// packing it for the reply would take the server longer than reading it; lua/survey.lua says it of others.
class GateRecord {
 public:
  // `holder`: the visit of the only holder of a lock. What is empty does not exist.
  struct Parts {
    std::string_view meta;
    std::string_view counters;
    std::string_view holder;
    std::vector<std::string_view> rates;
    std::string_view pauses;
  };
  // `clock`: the time of the server. What the parts refer to must outlive this. StoreError: no record.
  GateRecord(Parts parts, double clock);

  [[nodiscard]] bool is_forgotten() const noexcept { return is_forgotten_; }
  // Nothing has run out. If it is a lock with one holder, its visit is here.
  [[nodiscard]] bool is_usual() const noexcept;
  [[nodiscard]] Summary summary(const GateName& gate) const;

 private:
  [[nodiscard]] Unpacker at(std::size_t field) const { return Unpacker(parts_.meta).from(field); }
  [[nodiscard]] bool names_holder() const noexcept {
    return counts_.exclusive && counts_.holders == 1;
  }

  Parts parts_;
  GateCounts counts_;
  std::optional<std::uint32_t> override_limit_;
  std::uint32_t visits_ = 0;
  double now_ = 0;
  double next_due_ = 0;
  bool is_forgotten_ = false;
};

}  // namespace airlock::redis

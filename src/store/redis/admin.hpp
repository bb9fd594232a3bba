#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/step_runner.hpp"

namespace airlock::redis {

// What operators do: limits, pauses, revocation, removal, diagnosis. The steps are as Backend says.
class Admin {
 public:
  Admin(const Options& options, const StepCalls& calls, StepRunner& runner, Client& client,
        Notifications& notifications)
      : options_(options),
        calls_(calls),
        runner_(runner),
        client_(client),
        notifications_(notifications) {}

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit);
  void pause(const GateName& gate, Duration duration, std::string_view reporter);
  bool resume(const GateName& gate, std::string_view reporter);
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor, Revoke how);
  bool purge(const GateName& gate);

  // Brings every gate up to the present and forgets what is idle. One that cannot be read is left as it
  // is.
  void collect();
  [[nodiscard]] std::vector<Finding> examine();

 private:
  const Options& options_;
  const StepCalls& calls_;
  StepRunner& runner_;
  Client& client_;
  Notifications& notifications_;
};

}  // namespace airlock::redis

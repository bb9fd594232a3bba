#pragma once

#include <memory>
#include <optional>

#include "admission/keeper.hpp"
#include "admission/notify.hpp"
#include "airlock/airlock_gate.hpp"
#include "base/per_process.hpp"

namespace airlock::internal {

// What all admissions of one airlock, bulkhead or lock have in common: a store, options, and the keeper
// of what is granted. Calls go one way: AdmissionClient (what the public types use) makes an Attempt for
// a visitor that waits, and both use this.
//
// It remembers no failure: a store that fails at one gate, shard or server may serve the others.
class AdmissionContext {
 public:
  AdmissionContext(const Store& store, AirlockOptions options);

  [[nodiscard]] const AirlockOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::shared_ptr<Backend>& store() const noexcept { return store_; }
  [[nodiscard]] Keeper& keeper() { return *shared_keeper(); }
  // For what goes on by itself: waits in the background, and calls back.
  [[nodiscard]] const std::shared_ptr<Keeper>& shared_keeper();

  [[nodiscard]] Request request(const GateName& gate, const VisitorId& visitor,
                                const Ask& ask) const;

  [[nodiscard]] Duration claim_window() const noexcept { return line_.claim_window; }

  // One question that does not join the line. Throws as Airlock says.
  [[nodiscard]] Outcome<Lease> try_enter(const GateName& gate, const Ask& ask);

  // What was granted, as a lease. What cannot be kept is given back.
  [[nodiscard]] Lease take(const Granted& granted, Instant sent);
  // Ends in the background whatever a visitor has at the gate whom only this process knows.
  void give_up(const GateName& gate, const VisitorId& visitor) noexcept;

  // The outage policy (outage.hpp). Called while the StoreError is being handled.
  [[nodiscard]] Outcome<Lease> apply_outage_policy(const GateName& gate, const Ask& ask,
                                                   const StoreError& cause);
  [[noreturn]] static void throw_closed(const GateName& gate);

  void tell(const Event& event) const noexcept {
    if (options_.observer) internal::tell(*options_.observer, event);
  }

 private:
  void give_back(const Granted& granted, Instant sent) noexcept;
  [[nodiscard]] AdmissionContext& local();

  std::shared_ptr<Backend> store_;
  AirlockOptions options_;
  std::optional<Permits> permits_;  // Of all requests, but for their weight.
  Line line_;
  bool guards_ = true;
  base::PerProcess<std::shared_ptr<Keeper>> keeper_;
  base::PerProcess<std::unique_ptr<AdmissionContext>> local_;  // Outage::local.
};

}  // namespace airlock::internal

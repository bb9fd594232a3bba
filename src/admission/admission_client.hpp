#pragma once

#include <memory>
#include <optional>

#include "admission/keeper.hpp"
#include "admission/notify.hpp"
#include "airlock/airlock_gate.hpp"
#include "base/per_process.hpp"

namespace airlock::internal {

// How airlocks, bulkheads and locks get their leases: options and a store, any gate of it. It
// remembers no failure: a store that fails at one gate, shard or server may serve the others.
class AdmissionClient {
 public:
  AdmissionClient(const Store& store, AirlockOptions options);

  [[nodiscard]] const AirlockOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::shared_ptr<Backend>& store() const noexcept { return store_; }

  // One question. Throws as Airlock says.
  [[nodiscard]] Outcome<Lease> try_enter(const GateName& gate, const Ask& ask);
  [[nodiscard]] Outcome<Lease> enter(const GateName& gate, const Ask& ask, Duration max_wait);
  [[nodiscard]] Outcome<Lease> enter(const GateName& gate, const Ask& ask) {
    return enter(gate, ask, options_.max_wait);
  }

  // One question for a visitor who has an id instead of a thread.
  enum class AskKind { join, claim };
  [[nodiscard]] Answer admit(const GateName& gate, const VisitorId& visitor, const Ask& ask,
                             AskKind kind);

  void tell(const Event& event) const noexcept {
    if (options_.observer) internal::tell(*options_.observer, event);
  }

  // For what goes on by itself: waits in the background, and calls back.
  [[nodiscard]] const std::shared_ptr<Keeper>& shared_keeper();

 private:
  friend class Attempt;

  [[nodiscard]] Keeper& keeper();
  [[noreturn]] static void throw_closed(const GateName& gate);
  [[nodiscard]] Request request(const GateName& gate, const VisitorId& visitor,
                                const Ask& ask) const;
  [[nodiscard]] Answer ask(const GateName& gate, const VisitorId& visitor, const Ask& ask,
                           AskKind kind);
  [[nodiscard]] Lease take(const Granted& granted, Instant sent);
  void give_back(const Granted& granted, Instant sent) noexcept;
  // Ends in the background whatever a visitor has at the gate whom only this object knows.
  void give_up(const GateName& gate, const VisitorId& visitor) noexcept;
  [[nodiscard]] Outcome<Lease> apply_outage_policy(const GateName& gate, const Ask& ask,
                                                   const StoreError& cause);
  [[nodiscard]] AdmissionClient& local();

  std::shared_ptr<Backend> store_;
  AirlockOptions options_;
  std::optional<Permits> permits_;  // Of all requests, but for their weight.
  Line line_;
  bool guards_ = true;
  base::PerProcess<std::shared_ptr<Keeper>> keeper_;
  base::PerProcess<std::unique_ptr<AdmissionClient>> local_;  // Outage::local.
};

}  // namespace airlock::internal

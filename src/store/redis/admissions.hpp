#pragma once

#include <span>

#include "airlock/store.hpp"
#include "store/redis/identity.hpp"
#include "store/redis/leases.hpp"
#include "store/redis/notify/notifications.hpp"
#include "store/redis/step_runner.hpp"

namespace airlock::redis {

// What a visitor does that is not inside yet: it asks, waits, leaves. The steps are as Backend says.
class Admissions {
 public:
  Admissions(const StepCalls& calls, StepRunner& runner, Identity& identity,
             Notifications& notifications, Leases& leases)
      : calls_(calls),
        runner_(runner),
        identity_(identity),
        notifications_(notifications),
        leases_(leases) {}

  [[nodiscard]] Answer admit(const Request& request);
  void admit_each(std::span<AdmitItem> items) noexcept;
  [[nodiscard]] GroupAnswer admit_all(std::span<const Request> requests);
  bool leave(const GateName& gate, const VisitorId& visitor);
  bool mark_absent(const GateName& gate, const VisitorId& visitor);
  void refund(const Request& request);

  [[nodiscard]] bool watch(const GateName& gate, const VisitorId& visitor,
                           std::function<void()> changed);
  [[nodiscard]] bool await(const GateName& gate, const VisitorId& visitor,
                           const std::shared_ptr<Sleeper>& sleeper, Instant deadline);

 private:
  void add_request(Call& call, const Request& request, bool is_heard) const;
  [[nodiscard]] Call question(const Request& request,
                              const Notifications::Expectation& expected) const;
  [[nodiscard]] static Answer read_answer(const Request& request, StoreId id,
                                          const Notifications::Expectation& expected,
                                          AnswerKind kind, Unpacker& fields);
  struct Asking;
  void admit_together(std::span<AdmitItem* const> items);
  [[nodiscard]] Answer answer_to(const Asking& asking, const StepRunner::Asked& asked,
                                 std::size_t which, std::vector<GateName>& unsettled);
  [[noreturn]] void undo(std::span<const Request> requests, std::span<const Granted> granted);
  // As Notifications::Ask.
  [[nodiscard]] bool ask_for_changes(const GateName& gate, const VisitorId& visitor,
                                     std::string_view channel);

  const StepCalls& calls_;
  StepRunner& runner_;
  Identity& identity_;
  Notifications& notifications_;
  Leases& leases_;
};

}  // namespace airlock::redis

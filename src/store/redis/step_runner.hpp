#pragma once

#include <functional>
#include <span>
#include <vector>

#include "store/redis/client.hpp"
#include "store/redis/notify/notifications.hpp"
#include "store/redis/pending_releases.hpp"
#include "store/redis/step_calls.hpp"
#include "store/redis/store_time.hpp"
#include "store/redis/wire.hpp"

namespace airlock::redis {

// What a script returned.
struct StepResult {
  Reply reply;
  ReplyHead head;
  bool perhaps_twice = false;
  bool acknowledged = true;
  bool in_order = true;  // It came after all releases of this process at its gates.

  // Behind the head.
  [[nodiscard]] Unpacker fields() const;

  // For steps that say whether they found something to do. StoreError: the step was perhaps done
  // twice, so that the second found nothing tells nothing.
  [[nodiscard]] bool happened() const;
};

// Runs the scripts of a store. A script is asked again while it says so, and carries the releases of
// this process at its gates that nobody has confirmed yet (PendingReleases). The work of one call is
// bounded; some of what is left of it is done here, by the caller that met it, the rest by the next.
class StepRunner {
 public:
  StepRunner(const Options& options, const StepCalls& calls, Client& client,
             Notifications& notifications)
      : options_(options), calls_(calls), client_(client), notifications_(notifications) {}

  [[nodiscard]] Deadline deadline() const { return step_deadline(options_); }

  // A step at one gate. The call is stamped here, as in all that follow.
  StepResult run(Call& call, const GateName& gate, RetryPolicy policy = RetryPolicy::always) {
    return run(call, gate, deadline(), policy);
  }
  StepResult run(Call& call, const GateName& gate, const Deadline& deadline,
                 RetryPolicy policy = RetryPolicy::always) {
    return run(calls_.stamp(call), {&gate, 1}, policy, Which::few, deadline);
  }

  // Asks to be let in: once more after a refusal, if it was perhaps for a permit that another thread
  // of this process was just giving back, and then after all of those.
  [[nodiscard]] StepResult ask(Call& call, std::span<const GateName> gates,
                               const Deadline& deadline, RetryPolicy policy);

  // The same for many that may be made twice, in one round trip to each server.
  struct Asked {
    Batch batch;
    bool in_order = true;  // As of a StepResult, of all.
  };
  [[nodiscard]] Asked ask_all(std::vector<Call> asks, std::vector<GateName> gates,
                              const Deadline& deadline);

  // A script that only reads: no releases go ahead of it, and it leaves nothing to be done.
  [[nodiscard]] Reply read(Call& call) {
    return client_.run(calls_.stamp(call), RetryPolicy::always, deadline()).reply;
  }

  // Many steps that may be made twice; no releases go ahead of them.
  [[nodiscard]] Batch run_all(std::vector<Call>& calls, const Deadline& deadline);

  // Makes calls for `together` gates each, many in one round trip, which has a deadline of its own, and
  // passes the reply to each on.
  using Gates = std::span<const GateName>;
  using Make = std::function<Call(Gates)>;
  using Use = std::function<void(Gates, const Batch&, std::size_t)>;
  void run_for_each(Gates gates, std::size_t together, const Make& make, const Use& use);

  // Ends what else has run out at gates that said that there is more. One portion of each gate in
  // turn; none is begun in the second half of the time, in which it might not end, nor after `until`.
  void settle(std::vector<GateName> gates, const Deadline& deadline,
              const Deadline& until) noexcept;

  [[nodiscard]] PendingReleases& pending_releases() noexcept { return pending_releases_; }
  // The releases of these gates, and where there is one server those that any next step does.
  using Which = PendingReleases::Which;
  [[nodiscard]] PendingReleases::Load pick_up(std::span<const GateName> gates, Which which);
  // A server has done the release.
  void confirm(const Token& token);

 private:
  [[nodiscard]] StepResult run(const Call& call, std::span<const GateName> gates,
                               RetryPolicy policy, Which releases, const Deadline& deadline);
  [[nodiscard]] std::vector<Call> release_calls(const std::vector<Token>& tokens,
                                                const Deadline& deadline) const;
  // Those that are done; returns those that are to be sent again, because their gate is being repaired.
  [[nodiscard]] std::vector<Token> confirm_all(const std::vector<Token>& tokens,
                                               const std::vector<Reply>& replies);

  const Options& options_;
  const StepCalls& calls_;
  Client& client_;
  Notifications& notifications_;
  PendingReleases pending_releases_;
};

}  // namespace airlock::redis

#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "admission/admission_client.hpp"

namespace airlock::internal {

// One visitor on its way in.
class Attempt {
 public:
  // The client must outlive it.
  Attempt(AdmissionClient& client, const GateName& gate, const Ask& ask, Duration max_wait);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt();  // Leaves the line.

  // Takes the place, or is in or refused right away. A failure of the store is kept for the next
  // call: is_decided() says so.
  void join();
  [[nodiscard]] bool is_decided() const noexcept { return outcome_ || failure_; }
  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }

  // Asks until it is decided, the time is up, or it is told to stop.
  [[nodiscard]] Outcome<Lease> wait();

  // The same step by step: asks once, and is over when it is time; true: decided, take() it. If
  // not, watch() calls back once when there is news (false: there is already; note it and go on),
  // and next() is when to go on without.
  [[nodiscard]] bool advance();
  [[nodiscard]] bool watch(std::function<void()> changed);
  void note_news() noexcept { news_ = true; }
  [[nodiscard]] Instant next() const noexcept { return std::min(next_ask_, deadline_); }
  [[nodiscard]] Outcome<Lease> take() { return std::move(*outcome_); }

  [[nodiscard]] std::uint32_t position() const noexcept { return queued_ ? queued_->position : 0; }
  [[nodiscard]] Duration eta() const noexcept { return queued_ ? queued_->eta : Duration(0); }
  void leave() noexcept;

 private:
  bool ask();  // Once; true: decided.
  [[nodiscard]] Duration waited() const { return clock_.now() - began_; }
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] Duration time_left() const;  // For a step of the store.
  void decide(Outcome<Lease> outcome);
  void note(const Queued& queued, Duration claim_window);
  void note(const StoreError& error, bool failed_before);  // While it is being handled.
  void sleep();
  void give_up();

  AdmissionClient& client_;
  Clock& clock_;
  GateName gate_;
  Ask ask_;
  std::string label_;
  std::uint64_t generation_;
  Instant began_;
  Instant deadline_;
  VisitorId visitor_ = VisitorId::random();
  Instant next_ask_{0};
  Duration overdue_{0};  // Asks so long after its turn should have come.
  std::optional<Queued> queued_;
  std::optional<Outcome<Lease>> outcome_;
  std::exception_ptr failure_;  // Of join().
  bool news_ = false;
  bool ask_failed_ = false;
  bool is_unsure_ = false;  // The answer to the last question was lost.
  bool has_asked_ = false;
  bool watched_ = false;
  std::shared_ptr<Sleeper> sleeper_;
};

}  // namespace airlock::internal

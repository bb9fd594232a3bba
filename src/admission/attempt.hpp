#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "admission/admission_context.hpp"

namespace airlock::internal {

// One visitor on its way in.
class Attempt {
 public:
  // The context must outlive it.
  Attempt(AdmissionContext& context, const GateName& gate, const Ask& ask, Duration max_wait);
  Attempt(Attempt&& other) noexcept;  // With its place; the other must not be decided.
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt();  // Leaves the line.

  // Throws what needs no question: InvalidArgument, or a StoreError if the store is closed.
  void check();

  // Takes the place, or is in or refused right away. A failure of the store is kept for take().
  void join();

  // The same where the store does not block; false: a part of it is busy, and nothing was asked.
  [[nodiscard]] bool try_join();
  [[nodiscard]] bool is_decided() const noexcept { return outcome_ || failure_; }
  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }

  // Asks until it is decided, the time is up, or it is told to stop.
  [[nodiscard]] Outcome<Lease> wait();

  // The same step by step, for a caller that asks for many at once: begin() says what to ask
  // (nothing: it is decided), and end() takes in what came of it. Once it is decided, take() it. If it
  // is not, watch() calls back once when there is news (false: there is already; note it and ask
  // again), and next_ask() is when to ask without.
  [[nodiscard]] std::optional<Request> begin();
  void end(AdmitItem& item);
  [[nodiscard]] bool watch(std::function<void()> changed);
  void note_news() noexcept { news_ = true; }
  [[nodiscard]] Instant next_ask() const noexcept { return next_ask_; }
  [[nodiscard]] Outcome<Lease> take();

  // When it is to be decided, and whether it is to be decided at once. A question that has not been
  // answered then is not waited for: too_late() says what its visitor is told, also while the question is
  // on its way, and abandon() takes in what comes of it and gives it back.
  [[nodiscard]] Instant deadline() const noexcept;
  [[nodiscard]] bool is_stopped() const noexcept;
  [[nodiscard]] Outcome<Lease> too_late() const;
  void abandon(const AdmitItem& item) noexcept;

  // Whether the store may be asked twice for one answer.
  [[nodiscard]] bool is_repeatable() const noexcept { return context_.options().limit != 0; }

  [[nodiscard]] std::uint32_t position() const noexcept { return queued_ ? queued_->position : 0; }
  [[nodiscard]] Duration eta() const noexcept { return queued_ ? queued_->eta : Duration(0); }

  // Out of the line; after leave_later() without waiting for the store.
  void leave() noexcept;
  void leave_later() noexcept { leaves_later_ = true; }

 private:
  bool advance();  // Asks once, and is over when it is time; true: decided.
  void take_in(const Answer& answer);
  [[nodiscard]] Duration waited() const { return clock_.now() - began_; }
  [[nodiscard]] bool is_over() const;
  // For a step of the store: for the first question all that the store gives it.
  [[nodiscard]] Duration time_left() const;
  void decide(Outcome<Lease> outcome);
  void note(const Queued& queued);
  void note(const StoreError& error);  // While it is being handled.
  void sleep();
  void give_up();

  AdmissionContext& context_;
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
  Instant sent_{0};
  bool ask_failed_ = false;
  bool failed_before_ = false;
  bool is_unsure_ = false;  // The answer to the last question was lost.
  bool has_asked_ = false;
  bool watched_ = false;
  bool leaves_later_ = false;
  std::shared_ptr<Sleeper> sleeper_;
};

}  // namespace airlock::internal

#include "store/redis/admissions.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/label.hpp"
#include "base/quote.hpp"
#include "store/validate.hpp"

namespace airlock::redis {
namespace {

[[noreturn]] void throw_other_order(const GateName& gate) {
  throw InvalidArgument("gate " + base::quoted(gate.view()) +
                        " has a line with another order; it can change when the line is empty");
}

[[noreturn]] void throw_other_kind(const GateName& gate) {
  throw InvalidArgument("this visitor waits at gate " + base::quoted(gate.view()) +
                        " with another kind of request; it must leave first");
}

Token token_for(const Request& request, StoreId id) {
  return {.store = id, .gate = request.gate, .visitor = request.visitor};
}

// What a visitor already had when it asked stays as it was.
bool is_to_be_undone(const StepResult& result, const Granted& granted) {
  return !result.acknowledged && (!granted.repeated || result.perhaps_twice);
}

// Rates alone leave nothing that a second question would find.
RetryPolicy policy_for(const Request& request) {
  return request.permits || request.dedupe != Duration(0) ? RetryPolicy::always
                                                          : RetryPolicy::if_nothing_happened;
}

// A copy that shares nothing with another: they are handed on to several threads.
void fail(AdmitItem& item, const StoreError& error) noexcept {
  if (item.answer || item.failure) return;
  item.failure =
      std::make_exception_ptr(StoreError(error.kind(), error.outcome(), std::string(error.what())));
}

}  // namespace

// And whether it makes a difference that nobody has heard that it is the visitor's turn.
void Admissions::add_request(Call& call, const Request& request, bool is_heard) const {
  const bool confirmed = is_heard && request.hold == Hold::bound && notifications_.counts_hearers();
  call.add(pack_request(request, confirmed)).add(pack_rates(request.rates));
  call.add(request.label.empty() ? base::default_label() : request.label);
}

Call Admissions::question(const Request& request,
                          const Notifications::Expectation& expected) const {
  Call admit = calls_.make(Step::admit, request.gate);
  admit.add(pack_visitor(request.visitor)).add(expected.channel());
  add_request(admit, request, expected.is_heard());
  return admit;
}

Answer Admissions::read_answer(const Request& request, StoreId id,
                               const Notifications::Expectation& expected, AnswerKind kind,
                               Unpacker& fields) {
  switch (kind) {
    case AnswerKind::granted: {
      Granted granted = read_granted(fields, token_for(request, id));
      if (!granted.repeated) expected.tell_own();
      return granted;
    }
    case AnswerKind::queued:
      return read_queued(fields);
    case AnswerKind::refused:
      expected.tell_own();
      return read_refused(fields);
    case AnswerKind::other_order:
      throw_other_order(request.gate);
    default:
      throw_other_kind(request.gate);
  }
}

Answer Admissions::admit(const Request& request) {
  validate(request);
  const Deadline until = runner_.deadline();
  const StoreId id = identity_.get(until);
  const Notifications::Expectation expected = notifications_.expect(request);
  Call admit = question(request, expected);
  const StepResult result = runner_.ask(admit, {&request.gate, 1}, until, policy_for(request));
  Unpacker fields = result.fields();
  const Answer answer = read_answer(request, id, expected, result.head.kind, fields);
  if (const auto* granted = std::get_if<Granted>(&answer)) {
    if (is_to_be_undone(result, *granted)) undo({&request, 1}, {granted, 1});
  }
  return answer;
}

// --- many at once ---

struct Admissions::Asking {
  std::vector<AdmitItem*> items;
  std::vector<Notifications::Expectation> expected;
  StoreId id = 0;
};

// What may not be made twice, or is alone, is asked by itself.
void Admissions::admit_each(std::span<AdmitItem> items) noexcept {
  std::vector<AdmitItem*> together;
  for (AdmitItem& item : items) {
    try {
      validate(item.request);
      if (items.size() > 1 && policy_for(item.request) == RetryPolicy::always) {
        together.push_back(&item);
      } else {
        item.answer = admit(item.request);
      }
    } catch (...) {
      item.failure = std::current_exception();
    }
  }
  try {
    if (!together.empty()) admit_together(together);
  } catch (const StoreError& error) {
    for (AdmitItem* item : together) fail(*item, error);
  } catch (const std::exception& error) {
    for (AdmitItem* item : together)
      fail(*item, {StoreError::Kind::no_room, Outcome::unknown, error.what()});
  }
}

void Admissions::admit_together(std::span<AdmitItem* const> items) {
  const Deadline until = runner_.deadline();
  Asking asking{.items = {items.begin(), items.end()}, .id = identity_.get(until)};
  std::vector<GateName> gates;
  for (const AdmitItem* item : items) gates.push_back(item->request.gate);
  notifications_.listen(gates, until);
  std::vector<Call> calls;
  for (const AdmitItem* item : items) {
    asking.expected.push_back(notifications_.expect(item->request));
    calls.push_back(question(item->request, asking.expected.back()));
  }
  const StepRunner::Asked asked = runner_.ask_all(std::move(calls), std::move(gates), until);
  std::vector<GateName> unsettled;
  for (std::size_t i = 0; i < items.size(); ++i) {
    try {
      items[i]->answer = answer_to(asking, asked, i, unsettled);
    } catch (...) {
      items[i]->failure = std::current_exception();
    }
  }
  runner_.settle(std::move(unsettled), until, until);
}

// Asked once more by itself where the gate was being repaired, or where it was perhaps refused because of
// a release of this process.
Answer Admissions::answer_to(const Asking& asking, const StepRunner::Asked& asked,
                             std::size_t which, std::vector<GateName>& unsettled) {
  const Request& request = asking.items[which]->request;
  Unpacker fields(asked.batch.at(which).text());
  const ReplyHead head = read_head(fields);
  if (head.kind == AnswerKind::again || (head.kind == AnswerKind::refused && !asked.in_order))
    return admit(request);
  if (head.more) unsettled.push_back(request.gate);
  return read_answer(request, asking.id, asking.expected[which], head.kind, fields);
}

GroupAnswer Admissions::admit_all(std::span<const Request> requests) {
  validate_group(requests);
  const Deadline until = runner_.deadline();
  const StoreId id = identity_.get(until);
  const Notifications::Expectation expected = notifications_.expect_all(requests);
  std::vector<GateName> gates;
  for (const Request& request : requests) gates.push_back(request.gate);
  Call admit = calls_.make(Step::admit_all, gates);
  admit.add(pack_visitor(requests.front().visitor)).add(expected.channel());
  for (const Request& request : requests) add_request(admit, request, expected.is_heard());

  const StepResult result = runner_.ask(admit, gates, until, RetryPolicy::always);
  Unpacker fields = result.fields();
  GroupAnswer answer;
  if (result.head.kind == AnswerKind::granted) {
    for (const Request& request : requests) {
      answer.granted.push_back(read_granted(fields, token_for(request, id)));
    }
    if (is_to_be_undone(result, answer.granted.front())) undo(requests, answer.granted);
    return answer;
  }
  answer.at = fields.whole<std::size_t>();
  if (answer.at >= requests.size()) throw refusal_of("the reply to a group request cannot be read");
  if (result.head.kind == AnswerKind::other_order) throw_other_order(gates[answer.at]);
  if (result.head.kind == AnswerKind::other_kind) throw_other_kind(gates[answer.at]);
  if (result.head.kind == AnswerKind::queued) {
    answer.because = read_queued(fields);
  } else {
    answer.because = read_refused(fields);
  }
  return answer;
}

void Admissions::undo(std::span<const Request> requests, std::span<const Granted> granted) {
  Outcome outcome = Outcome::nothing_happened;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    try {
      if (requests[i].permits) (void)leases_.release(granted[i].token);
      if (!requests[i].rates.empty()) refund(requests[i]);
    } catch (const StoreError&) {
      outcome = Outcome::unknown;
    }
  }
  throw too_few_replicas(outcome);
}

bool Admissions::leave(const GateName& gate, const VisitorId& visitor) {
  Call leave = calls_.make(Step::leave, gate);
  leave.add(pack_visitor(visitor)).add("0");
  const bool left = runner_.run(leave, gate).happened();
  notifications_.tell_own(gate, visitor);
  return left;
}

bool Admissions::mark_absent(const GateName& gate, const VisitorId& visitor) {
  Call mark = calls_.make(Step::mark_absent, gate);
  mark.add(pack_visitor(visitor));
  return runner_.run(mark, gate).happened();
}

void Admissions::refund(const Request& request) {
  validate(request);
  Call refund = calls_.make(Step::refund, request.gate);
  refund.add(pack_rates(request.rates)).add_number(request.cost);
  (void)runner_.run(refund, request.gate, RetryPolicy::if_nothing_happened);
}

// --- waiting ---

bool Admissions::ask_for_changes(const GateName& gate, const VisitorId& visitor,
                                 std::string_view channel) {
  const bool counts = !channel.empty() && notifications_.counts_hearers();
  Call watch = calls_.make(Step::watch, gate);
  watch.add(pack_visitor(visitor)).add(channel).add(counts ? "1" : "0");
  return runner_.run(watch, gate).fields().flag();
}

bool Admissions::watch(const GateName& gate, const VisitorId& visitor,
                       std::function<void()> changed) {
  const auto ask = [&](std::string_view channel) {
    return ask_for_changes(gate, visitor, channel);
  };
  return notifications_.watch(gate, visitor, std::move(changed), std::ref(ask));
}

bool Admissions::await(const GateName& gate, const VisitorId& visitor,
                       const std::shared_ptr<Sleeper>& sleeper, Instant deadline) {
  const auto ask = [&](std::string_view channel) {
    return ask_for_changes(gate, visitor, channel);
  };
  return notifications_.await(gate, visitor, sleeper, deadline, std::ref(ask));
}

}  // namespace airlock::redis

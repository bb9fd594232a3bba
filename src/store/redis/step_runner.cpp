#include "store/redis/step_runner.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace airlock::redis {
namespace {

constexpr std::size_t kPipelined = 128;   // So many calls go out together,
constexpr std::size_t kReadAtOnce = 512;  // for so many gates.
// For so long a caller that has its answer ends what else has run out,
constexpr Duration kAfterwards = std::chrono::milliseconds(10);
// and if others wait for that.
constexpr Duration kForOthers = std::chrono::milliseconds(250);

bool is_done(const std::optional<Reply>& reply) {
  if (!reply || reply->is_error()) return false;
  Unpacker fields(reply->text());
  return read_head(fields).kind != AnswerKind::again;
}

}  // namespace

Unpacker StepResult::fields() const {
  Unpacker all(reply.text());
  (void)read_head(all);
  return all;
}

bool StepResult::happened() const {
  const bool happened = fields().flag();
  if (!happened && perhaps_twice) {
    throw unavailable("the connection broke before the answer came", Outcome::unknown);
  }
  return happened;
}

StepResult StepRunner::run(const Call& call, std::span<const GateName> gates, RetryPolicy policy,
                           Which releases, const Deadline& deadline) {
  const PendingReleases::Load load = policy == RetryPolicy::if_nothing_happened
                                         ? PendingReleases::Load()
                                         : pick_up(gates, releases);
  std::vector<Token> releases_left = load.tokens();
  StepResult result;
  result.in_order = load.is_complete();
  do {
    if (deadline.is_over()) {
      throw too_late(result.head.kind == AnswerKind::again
                         ? "too many admissions expired at this gate at once"
                         : "no time is left to ask");
    }
    Client::Ran ran = client_.run(call, policy, deadline, release_calls(releases_left, deadline));
    releases_left = confirm_all(releases_left, ran.ahead);
    result.reply = std::move(ran.reply);
    result.perhaps_twice = result.perhaps_twice || ran.perhaps_twice;
    result.acknowledged = ran.acknowledged;
    result.in_order = result.in_order && ran.in_order;
    if (result.reply.is_nil()) return result;
    Unpacker fields(result.reply.is_array() ? result.reply.at(0).text() : result.reply.text());
    result.head = read_head(fields);
  } while (result.head.kind == AnswerKind::again);
  if (result.head.more) settle({gates.front()}, deadline, deadline);
  return result;
}

StepResult StepRunner::ask(Call& call, std::span<const GateName> gates, const Deadline& deadline,
                           RetryPolicy policy) {
  calls_.stamp(call.require_ack());
  StepResult result = run(call, gates, policy, Which::few, deadline);
  if (result.head.kind == AnswerKind::refused && !result.in_order) {
    result = run(call, gates, policy, Which::all, deadline);
  }
  return result;
}

StepRunner::Asked StepRunner::ask_all(std::vector<Call> asks, std::vector<GateName> gates,
                                      const Deadline& deadline) {
  std::ranges::sort(gates);
  gates.erase(std::unique(gates.begin(), gates.end()), gates.end());
  const PendingReleases::Load load = pick_up(gates, Which::all);
  std::vector<Call> calls;
  for (const Token& token : load.tokens()) calls.push_back(calls_.release(token, deadline));
  const auto ahead = static_cast<std::ptrdiff_t>(calls.size());
  for (Call& ask : asks) calls.push_back(std::move(ask.require_ack()));
  Asked asked{.batch = run_all(calls, deadline)};
  std::vector<std::optional<Reply>>& replies = asked.batch.replies;
  for (std::size_t i = 0; i < load.tokens().size(); ++i) {
    if (is_done(replies[i])) {
      confirm(load.tokens()[i]);
    } else {
      asked.in_order = false;
    }
  }
  replies.erase(replies.begin(), replies.begin() + ahead);
  return asked;
}

// What may have been done of some may have been done, whatever is said of others.
Batch StepRunner::run_all(std::vector<Call>& calls, const Deadline& deadline) {
  Batch all;
  for (Call& call : calls) calls_.stamp(call);
  for (std::span<const Call> rest = calls; !rest.empty();) {
    const std::size_t count = std::min(rest.size(), kPipelined);
    Batch some = client_.run(rest.first(count), deadline);
    std::ranges::move(some.replies, std::back_inserter(all.replies));
    if (some.failure) {
      const bool perhaps = all.failure && all.failure->outcome == Outcome::unknown;
      all.failure = std::move(some.failure);
      if (perhaps) all.failure->outcome = Outcome::unknown;
    }
    rest = rest.subspan(count);
  }
  return all;
}

void StepRunner::run_for_each(Gates gates, std::size_t together, const Make& make, const Use& use) {
  while (!gates.empty()) {
    std::vector<Call> calls;
    std::vector<Gates> of_call;
    const std::size_t most = std::min(kPipelined, kReadAtOnce / together);
    while (!gates.empty() && calls.size() < most) {
      of_call.push_back(gates.first(std::min(together, gates.size())));
      gates = gates.subspan(of_call.back().size());
      calls.push_back(make(of_call.back()));
    }
    const Batch batch = run_all(calls, deadline());
    for (std::size_t i = 0; i < calls.size(); ++i) use(of_call[i], batch, i);
  }
}

void StepRunner::settle(std::vector<GateName> gates, const Deadline& deadline,
                        const Deadline& until) noexcept try {
  std::ranges::sort(gates);
  gates.erase(std::unique(gates.begin(), gates.end()), gates.end());
  const auto half = std::chrono::duration_cast<Duration>(deadline.left() / 2);
  const Deadline for_others = until.sooner(std::min(half, kForOthers));
  const Deadline enough = for_others.sooner(kAfterwards);
  while (!gates.empty() && !for_others.is_over()) {
    std::vector<Call> calls;
    for (const GateName& gate : gates) {
      calls.push_back(calls_.make(Step::settle, gate));
      calls.back().add("0");
    }
    const Batch batch = run_all(calls, deadline);
    std::vector<GateName> left;
    for (std::size_t i = 0; i < gates.size(); ++i) {
      if (!batch.replies[i] || batch.replies[i]->is_error()) continue;
      Unpacker fields(batch.replies[i]->text());
      const ReplyHead head = read_head(fields);
      if (head.more && (head.soon || !enough.is_over())) left.push_back(gates[i]);
    }
    gates.swap(left);
  }
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the next caller continues it
}

// --- releases ---

PendingReleases::Load StepRunner::pick_up(std::span<const GateName> gates, Which which) {
  if (pending_releases_.is_empty()) return {};
  return pending_releases_.pick_up(gates, which, client_.has_one_server(),
                                   clock_of(options_).now());
}

std::vector<Call> StepRunner::release_calls(const std::vector<Token>& tokens,
                                            const Deadline& deadline) const {
  std::vector<Call> calls;
  for (const Token& token : tokens) {
    calls.push_back(calls_.release(token, deadline));
    calls_.stamp(calls.back());
  }
  return calls;
}

void StepRunner::confirm(const Token& token) {
  if (!pending_releases_.is_empty()) pending_releases_.confirm(token);
  notifications_.tell_own(token.gate, token.visitor);
}

std::vector<Token> StepRunner::confirm_all(const std::vector<Token>& tokens,
                                           const std::vector<Reply>& replies) {
  std::vector<Token> left;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i].is_error()) continue;
    Unpacker fields(replies[i].text());
    if (read_head(fields).kind == AnswerKind::again) {
      left.push_back(tokens[i]);
    } else {
      confirm(tokens[i]);
    }
  }
  return left;
}

}  // namespace airlock::redis

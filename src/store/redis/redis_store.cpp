#include "store/redis/redis_store.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/label.hpp"
#include "base/per_process.hpp"
#include "base/quote.hpp"
#include "base/random.hpp"
#include "store/call_limit.hpp"
#include "store/redis/boot_clock.hpp"
#include "store/redis/client.hpp"
#include "store/redis/examine.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/identity.hpp"
#include "store/redis/wire.hpp"
#include "store/servers.hpp"
#include "store/validate.hpp"

namespace airlock::redis {
namespace {

constexpr std::size_t kPipelined = 128;    // So many calls go out together.
constexpr std::size_t kReadTogether = 16;  // So many gates are read by one call,
constexpr std::size_t kReadAtOnce = 512;   // and so many in one round trip.
// For so long a caller that has its answer ends what else has run out,
constexpr Duration kAfterwards = std::chrono::milliseconds(10);
// and if others wait for that.
constexpr Duration kForOthers = std::chrono::milliseconds(250);

std::vector<std::string_view> texts(const Reply& array) {
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < array.size(); ++i) all.push_back(array.at(i).text());
  return all;
}

LookParts look_parts(const Reply& reply) {
  return {.head = reply.at(0).text(),
          .rates = texts(reply.at(3)),
          .pauses = reply.at(4).text(),
          .now = reply.at(5).text()};
}

Summary::Parts summary_parts(const Reply& reply) {
  return {.look = {.head = reply.at(0).text(),
                   .rates = texts(reply.at(3)),
                   .pauses = reply.at(4).text(),
                   .now = reply.at(1).text()},
          .rest = reply.at(1).text(),
          .ended = reply.at(2).text(),
          .holder = texts(reply.at(5))};
}

bool has_more(const Reply& reply) {
  Unpacker head(reply.at(0).text());
  return read_head(head).more;
}

// Fields and values in turn, as HSCAN gives them.
void add_all(const Reply& fields, Visits& visits) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    visits.add(fields.at(i).text(), fields.at(i + 1).text());
  }
}

// Whether the reply to a call for several says something of this one.
bool has_part(const Reply& all, std::size_t at) {
  return all.is_array() && (all.at(at).is_nil() || all.at(at).is_array());
}

// What a call of a batch returned. StoreError: nothing, or an error.
const Reply& reply_of(const Client::Batch& batch, std::size_t i) {
  const std::optional<Reply>& reply = batch.replies[i];
  if (!reply) throw StoreError(batch.failure->error());
  if (reply->is_error()) throw refusal_of(reply->text());
  return *reply;
}

[[noreturn]] void throw_other_order(const GateName& gate) {
  throw InvalidArgument("gate " + base::quoted(gate.view()) +
                        " has a line with another order; it can change when the line is empty");
}

[[noreturn]] void throw_other_kind(const GateName& gate) {
  throw InvalidArgument("this visitor waits at gate " + base::quoted(gate.view()) +
                        " with another kind of request; it must leave first");
}

class RedisStore final : public internal::Backend, public Servers {
 public:
  explicit RedisStore(Options options) : options_(std::move(options)), naming_(options_.prefix) {}

  ~RedisStore() override {
    if (used_in_ != base::fork_generation()) return;
    give_back_at_last();
    client().stop();
  }

  bool is_local() const noexcept override { return false; }
  StoreId id() override { return identity().get(deadline()); }
  Clock& clock() noexcept override {
    return options_.stepped != nullptr ? *options_.stepped : boot_clock();
  }

  Answer admit(const Request& request) override;
  GroupAnswer admit_all(std::span<const Request> requests) override;

  bool leave(const GateName& gate, const VisitorId& visitor) override {
    const bool left = happens(call(Step::leave, gate).add(pack_visitor(visitor)).add("0"), gate);
    tell_own(gate, visitor);
    return left;
  }

  void refund(const Request& request) override {
    validate(request);
    Call refund = call(Step::refund, request.gate);
    refund.add(pack_rates(request.rates)).add_number(request.cost);
    (void)run(refund, request.gate, RetryPolicy::if_nothing_happened);
  }

  void renew(std::span<RenewItem> items) override {
    const Deadline deadline(options_.timeout);
    renew(items, deadline, deadline);
  }
  void renew_within(std::span<RenewItem> items, Duration at_most) override;

  std::uint64_t server_of(const GateName& gate) override {
    return client().server_of(slot_of(gate.group()));
  }

  bool release(const Token& token) override {
    const Deadline until = deadline();
    const bool released = happens(with_token(Step::release, token, until), token.gate, until);
    confirm(token);
    if (!released) identity().recheck(until);
    return released;
  }

  void release_all(std::span<internal::ReleaseItem> items) noexcept override;

  bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept override try {
    return client().pending_releases().add(token, until, by_next_step);
  } catch (const std::exception&) {
    return false;
  }

  bool disown(const Token& token) override { return set_hold(token, Hold::detached).has_value(); }
  std::optional<Granted> adopt(const Token& token) override { return set_hold(token, Hold::bound); }

  bool holds(const Token& token) override {
    const Deadline until = deadline();
    Call holds = with_token(Step::holds, token, until);
    return run(holds, token.gate, until).fields().flag();
  }

  std::optional<GateView> look(const GateName& gate) override;
  std::vector<GateCounts> counts(std::span<const GateName> gates) override;
  std::vector<std::string> list() override;
  std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override;

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    if (limit) validate_limit(*limit);
    Call set = call(Step::set_limit, gate);
    (void)run(set.add_number(limit ? std::int64_t{*limit} : -1), gate);
  }

  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    validate_pause(duration, reporter);
    Call pause = call(Step::pause, gate);
    (void)run(pause.add_number(duration.count()).add(reporter), gate);
  }

  bool resume(const GateName& gate, std::string_view reporter) override {
    return happens(call(Step::resume, gate).add(reporter), gate);
  }

  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override;

  bool purge(const GateName& gate) override;

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override;
  bool await(const GateName& gate, const VisitorId& visitor,
             const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override;

  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    client().unwatch(gate, watch_key(gate, visitor));
  }

  // Messages may be lost.
  Recheck recheck() const noexcept override {
    return {.head = std::chrono::milliseconds(250), .overdue = std::chrono::milliseconds(20)};
  }

  void collect() override;

  std::vector<Finding> examine() override {
    const GateName gate = "airlock-doctor-rights";
    const auto channel = client().channel(gate);
    Call rights = call(Step::rights, gate);
    return redis::examine(client(), options_, rights.add(channel->name), channel);
  }

  void deliver_messages() {
    for (const auto& channel : client().channels())
      client().flush(*channel, Deadline(options_.timeout));
  }

 private:
  using RetryPolicy = Client::RetryPolicy;

  // What a script returned.
  struct Result {
    Reply reply;
    ReplyHead head;
    bool perhaps_twice = false;
    bool acknowledged = true;
    bool in_order = true;  // It came after all releases of this process at its gates.

    // Behind the head.
    [[nodiscard]] Unpacker fields() const {
      Unpacker all(reply.text());
      (void)read_head(all);
      return all;
    }
  };

  struct Process {
    explicit Process(const Options& options) : client(options), identity(client, options) {}
    Client client;
    Identity identity;
  };

  Process& process() {
    return *process_.get([this] {
      used_in_ = base::fork_generation();
      return std::make_unique<Process>(options_);
    });
  }
  Client& client() { return process().client; }
  Identity& identity() { return process().identity; }

  [[nodiscard]] const Script& script(Step step) const {
    return (*options_.scripts)[static_cast<std::size_t>(step)];
  }
  // And what else a script is to know of the options and the server: behind ten digits, by which it knows
  // that there is something.
  Call& add_seed(Call& call) const {
    std::string text = std::to_string(options_.seed ? options_.seed() : base::random31());
    if (options_.handover_delay == Duration(0)) return call.add(text);
    text.insert(0, 10 - text.size(), '0');
    text.append(";").append(std::to_string(options_.handover_delay.count())).append(";");
    return call.add_with_run_id(text);
  }
  [[nodiscard]] std::string watch_key(const GateName& gate, const VisitorId& visitor) const {
    return pack_visitor(visitor) + naming_.key(gate, Naming::kParts[0]);
  }

  // A visitor has learnt by itself how it stands.
  void tell_own(const GateName& gate, const VisitorId& visitor) {
    const auto channel = client().channel(gate, false);
    if (channel && !channel->watchers.is_empty())
      channel->watchers.tell_own(watch_key(gate, visitor));
  }

  // A script whose arguments begin with the seed.
  [[nodiscard]] Call call(Step step, const GateName& gate) const {
    Call call(script(step), naming_, gate);
    add_seed(call);
    return call;
  }
  [[nodiscard]] Call renewal_of(const RenewItem& item, const Deadline& deadline);
  [[nodiscard]] Call with_token(Step step, const Token& token, const Deadline& deadline) {
    if (!identity().knows(token.store, deadline)) {
      throw InvalidArgument("the token belongs to another store");
    }
    Call call = this->call(step, token.gate);
    call.add(pack_visitor(token.visitor)).add_number(static_cast<std::int64_t>(token.fence));
    return call;
  }
  Call& stamped(Call& call) const {
    if (options_.stepped != nullptr) {
      call.add_number(options_.stepped->now().count());
      call.add_number(options_.stepped->wall().count());
    }
    return call;
  }

  using Which = PendingReleases::Which;

  // Ends by then.
  [[nodiscard]] Deadline deadline() const {
    if (options_.stepped != nullptr) return Deadline(options_.timeout);
    const Duration left = CallLimit::within(options_.timeout);
    return left < options_.timeout / 2 ? Deadline(left).cut_short() : Deadline(left);
  }

  Result run(Call& call, const GateName& gate, RetryPolicy policy = RetryPolicy::always) {
    return run(call, gate, deadline(), policy);
  }
  Result run(Call& call, const GateName& gate, const Deadline& deadline,
             RetryPolicy policy = RetryPolicy::always) {
    stamped(call);
    return run(call, {&gate, 1}, policy, Which::few, deadline);
  }
  Result run(const Call& call, std::span<const GateName> gates, RetryPolicy policy, Which releases,
             const Deadline& deadline);
  Result ask(Call& call, std::span<const GateName> gates, const Deadline& deadline,
             RetryPolicy policy);

  // What ends a lease, or where only the visitor is known whatever it has.
  [[nodiscard]] Call release_call(const Token& token, const Deadline& deadline);
  [[nodiscard]] std::vector<Call> release_calls(const std::vector<Token>& tokens,
                                                const Deadline& deadline);
  void confirm(const Token& token);
  // Those that are done; returns those that are to be sent again, because their gate is being repaired.
  [[nodiscard]] std::vector<Token> confirm_all(const std::vector<Token>& tokens,
                                               const std::vector<Reply>& replies);
  void give_back_first(std::span<const GateName> gates);
  void give_back_at_last() noexcept;

  [[nodiscard]] Client::Batch run_all(std::vector<Call>& calls, const Deadline& deadline);
  [[nodiscard]] bool happens(Call& call, const GateName& gate) {
    return happens(call, gate, deadline());
  }
  [[nodiscard]] bool happens(Call& call, const GateName& gate, const Deadline& deadline);
  [[nodiscard]] bool happens(Call&& call, const GateName& gate, const Deadline& deadline) {
    return happens(call, gate, deadline);
  }
  [[nodiscard]] static bool happened(const Result& result);
  void settle(std::vector<GateName> gates, const Deadline& deadline,
              const Deadline& until) noexcept;
  void renew(std::span<RenewItem> items, const Deadline& deadline, const Deadline& settling);
  [[nodiscard]] std::optional<Granted> set_hold(const Token& token, Hold hold);
  [[nodiscard]] static Token token_for(const Request& request, StoreId id) {
    return {.store = id, .gate = request.gate, .visitor = request.visitor};
  }
  [[nodiscard]] bool watch_at(const std::shared_ptr<WakeChannel>& channel, const GateName& gate,
                              const VisitorId& visitor, std::function<void()> changed);
  // Makes calls for `together` gates each, many in one round trip, which has a deadline of its own, and
  // passes the reply to each on.
  using Gates = std::span<const GateName>;
  using Use = std::function<void(Gates, const Client::Batch&, std::size_t)>;
  void for_all(Gates gates, std::size_t together, const std::function<Call(Gates)>& make,
               const Use& use);
  // Reads gates. Empty: it is not known. What a gate that cannot be read says goes to `failed`, or is
  // thrown where there is none.
  using Summarized = std::function<void(const GateName&, std::optional<Summary>)>;
  using Failed = std::function<void(const GateName&, const StoreError&)>;
  void summarize(Gates gates, const Summarized& use, const Failed& failed = {});
  template <typename Read>
  void use_summary(const GateName& gate, const Read& read, const Summarized& use,
                   const Failed& failed);
  void use_several(Gates gates, const Reply& all, const Summarized& use, const Failed& failed);
  [[nodiscard]] std::optional<Summary> summary_of(const GateName& gate, const Reply& reply);
  // The visits from where a portion of HSCAN ended.
  void add_visits(const GateName& gate, std::string cursor, Visits& visits);
  [[nodiscard]] Reply survey_alone(const GateName& gate, std::size_t portion);
  [[nodiscard]] Call survey_call(Gates gates, std::size_t portion = 0) const;
  [[nodiscard]] std::vector<GateName> scan();
  void scan(Node& node, std::vector<std::string>& names);

  // Whether it makes a difference that nobody has heard that it is its turn.
  [[nodiscard]] bool is_missed(const Request& request) {
    return request.hold == Hold::bound && client().counts_hearers();
  }
  [[nodiscard]] static bool is_to_be_undone(const Result& result, const Granted& granted);
  [[noreturn]] void undo(std::span<const Request> requests, std::span<const Granted> granted);

  const Options options_;
  const Naming naming_;
  std::atomic<std::uint64_t> used_in_ = 0;
  base::PerProcess<std::unique_ptr<Process>> process_;
};

// --- running scripts ---

// The work of one call is bounded. Some of what is left of it is done here, by the caller that met it;
// the rest by the next one.
RedisStore::Result RedisStore::run(const Call& call, std::span<const GateName> gates,
                                   RetryPolicy policy, Which releases, const Deadline& deadline) {
  PendingReleases& pending = client().pending_releases();
  const PendingReleases::Load load =
      pending.is_empty() || policy == RetryPolicy::if_nothing_happened
          ? PendingReleases::Load()
          : pending.pick_up(gates, releases, client().has_one_server(), clock().now());
  std::vector<Token> releases_left = load.tokens();
  Result result;
  result.in_order = load.is_complete();
  do {
    if (deadline.is_over()) {
      throw too_late(result.head.kind == AnswerKind::again
                         ? "too much has run out at this gate at once"
                         : "no time is left to ask");
    }
    Client::Ran ran = client().run(call, policy, deadline, release_calls(releases_left, deadline));
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

// Refused, perhaps for a permit that another thread of this process was just giving back: once more,
// and after all of those.
RedisStore::Result RedisStore::ask(Call& call, std::span<const GateName> gates,
                                   const Deadline& deadline, RetryPolicy policy) {
  stamped(call.lasting());
  Result result = run(call, gates, policy, Which::few, deadline);
  if (result.head.kind == AnswerKind::refused && !result.in_order) {
    result = run(call, gates, policy, Which::all, deadline);
  }
  return result;
}

// One portion of each gate in turn. None is begun in the second half of the time, in which it might not
// end, nor after `until`.
void RedisStore::settle(std::vector<GateName> gates, const Deadline& deadline,
                        const Deadline& until) noexcept try {
  std::ranges::sort(gates);
  gates.erase(std::unique(gates.begin(), gates.end()), gates.end());
  const auto half = std::chrono::duration_cast<Duration>(deadline.left() / 2);
  const Deadline for_others = until.sooner(std::min(half, kForOthers));
  const Deadline enough = for_others.sooner(kAfterwards);
  while (!gates.empty() && !for_others.is_over()) {
    std::vector<Call> calls;
    for (const GateName& gate : gates) {
      calls.push_back(call(Step::settle, gate));
      calls.back().add("0");
    }
    const Client::Batch batch = run_all(calls, deadline);
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

Client::Batch RedisStore::run_all(std::vector<Call>& calls, const Deadline& deadline) {
  Client::Batch all;
  for (Call& call : calls) stamped(call);
  for (std::span<const Call> rest = calls; !rest.empty();) {
    const std::size_t count = std::min(rest.size(), kPipelined);
    Client::Batch some = client().run(rest.first(count), deadline);
    std::ranges::move(some.replies, std::back_inserter(all.replies));
    if (some.failure) all.failure = std::move(some.failure);
    rest = rest.subspan(count);
  }
  return all;
}

// For steps that say whether they found something to do. If the step was perhaps done twice, that
// the second found nothing tells nothing.
bool RedisStore::happens(Call& call, const GateName& gate, const Deadline& deadline) {
  return happened(run(call, gate, deadline));
}

bool RedisStore::happened(const Result& result) {
  const bool happened = result.fields().flag();
  if (!happened && result.perhaps_twice) {
    throw unavailable("the connection broke before the answer came", Outcome::unknown);
  }
  return happened;
}

// --- admission ---

Answer RedisStore::admit(const Request& request) {
  validate(request);
  const Deadline until = deadline();
  const StoreId id = identity().get(until);
  const bool may_wait = request.line.join || request.line.returning;
  const auto channel = client().channel(request.gate, may_wait);
  const std::string key = may_wait || (channel && !channel->watchers.is_empty())
                              ? watch_key(request.gate, request.visitor)
                              : std::string();
  const bool hears = may_wait && channel->watchers.expect(key, request.line.patience);
  Call admit = call(Step::admit, request.gate);
  admit.add(pack_visitor(request.visitor)).add(hears ? channel->name : "");
  admit.add(pack_request(request, hears && is_missed(request)));
  admit.add(pack_rates(request.rates));
  admit.add(request.label.empty() ? base::default_label() : request.label);

  // Rates alone leave nothing that a second question would find.
  const bool idempotent = request.permits || request.dedupe != Duration(0);
  const Result result = ask(admit, {&request.gate, 1}, until,
                            idempotent ? RetryPolicy::always : RetryPolicy::if_nothing_happened);
  Unpacker fields = result.fields();
  switch (result.head.kind) {
    case AnswerKind::granted: {
      Granted granted = read_granted(fields, token_for(request, id));
      if (!granted.repeated && !key.empty()) channel->watchers.tell_own(key);
      if (is_to_be_undone(result, granted)) undo({&request, 1}, {&granted, 1});
      return granted;
    }
    case AnswerKind::queued:
      return read_queued(fields);
    case AnswerKind::refused:
      if (!key.empty()) channel->watchers.tell_own(key);
      return read_refused(fields);
    case AnswerKind::other_order:
      throw_other_order(request.gate);
    default:
      throw_other_kind(request.gate);
  }
}

// What a visitor already had when it asked stays as it was.
bool RedisStore::is_to_be_undone(const Result& result, const Granted& granted) {
  return !result.acknowledged && (!granted.repeated || result.perhaps_twice);
}

void RedisStore::undo(std::span<const Request> requests, std::span<const Granted> granted) {
  Outcome outcome = Outcome::nothing_happened;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    try {
      if (requests[i].permits) (void)release(granted[i].token);
      if (!requests[i].rates.empty()) refund(requests[i]);
    } catch (const StoreError&) {
      outcome = Outcome::unknown;
    }
  }
  throw too_few_replicas(outcome);
}

GroupAnswer RedisStore::admit_all(std::span<const Request> requests) {
  validate_group(requests);
  const Deadline until = deadline();
  const StoreId id = identity().get(until);
  const auto channel = client().channel(requests.front().gate);
  std::vector<GateName> gates;
  bool hears = false;
  for (const Request& request : requests) {
    gates.push_back(request.gate);
    const std::string key = watch_key(request.gate, request.visitor);
    hears = (request.line.join && channel->watchers.expect(key, request.line.patience)) || hears;
  }
  Call admit(script(Step::admit_all), naming_, gates);
  add_seed(admit).add(pack_visitor(requests.front().visitor));
  admit.add(hears ? channel->name : "");
  for (const Request& request : requests) {
    admit.add(pack_request(request, hears && is_missed(request)));
    admit.add(pack_rates(request.rates));
    admit.add(request.label.empty() ? base::default_label() : request.label);
  }
  const Result result = ask(admit, gates, until, RetryPolicy::always);
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
  if (answer.at >= requests.size()) throw refusal_of("a group's reply makes no sense");
  if (result.head.kind == AnswerKind::other_order) throw_other_order(gates[answer.at]);
  if (result.head.kind == AnswerKind::other_kind) throw_other_kind(gates[answer.at]);
  if (result.head.kind == AnswerKind::queued) {
    answer.because = read_queued(fields);
  } else {
    answer.because = read_refused(fields);
  }
  return answer;
}

// --- leases ---

Call RedisStore::renewal_of(const RenewItem& item, const Deadline& deadline) {
  Call renewal = with_token(Step::renew, item.token, deadline);
  renewal.add_number(item.ttl.count()).add_number(item.weight.value_or(0)).lasting();
  return renewal;
}

// A renewal is useless once the lease has ended: it is tried after a third of the ttl.
void RedisStore::renew_within(std::span<RenewItem> items, Duration at_most) {
  Duration longest{0};
  for (const RenewItem& item : items) longest = std::max(longest, item.ttl);
  const Deadline deadline(std::min(options_.timeout, longest / 3 * 2));
  renew(items, deadline, deadline.sooner(at_most));
}

void RedisStore::renew(std::span<RenewItem> items, const Deadline& deadline,
                       const Deadline& settling) {
  std::vector<Call> calls;
  calls.reserve(items.size());
  for (const RenewItem& item : items) {
    validate_ttl(item.ttl);
    if (item.weight == 0) throw InvalidArgument("weight 0: a lease weighs at least 1");
    calls.push_back(renewal_of(item, deadline));
  }
  Client::Batch batch = run_all(calls, deadline);
  std::vector<GateName> unsettled;
  bool is_any_gone = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::optional<Reply>& reply = batch.replies[i];
    if (!reply) continue;
    if (reply->is_error()) {
      batch.failure = Failure::of(refusal_of(reply->text()));
      continue;
    }
    Unpacker fields(reply->text());
    const ReplyHead head = read_head(fields);
    if (head.kind == AnswerKind::again) {
      Call again = renewal_of(items[i], deadline);
      const Result result =
          run(stamped(again), {&items[i].token.gate, 1}, RetryPolicy::always, Which::few, deadline);
      items[i].result = result.fields().whole<Renewal>();
      continue;
    }
    items[i].result = fields.whole<Renewal>();
    if (items[i].result == Renewal::gone) is_any_gone = true;
    if (head.more) unsettled.push_back(items[i].token.gate);
  }
  settle(std::move(unsettled), deadline, settling);
  // In a cluster another server may have the id, and be down: renewals do not wait for it.
  if (is_any_gone && client().has_one_server()) identity().recheck(deadline);
  if (batch.failure) throw StoreError(batch.failure->error());
}

Call RedisStore::release_call(const Token& token, const Deadline& deadline) {
  if (token.fence != 0) return with_token(Step::release, token, deadline);
  Call leave = call(Step::leave, token.gate);
  leave.add(pack_visitor(token.visitor)).add("1");
  return leave;
}

std::vector<Call> RedisStore::release_calls(const std::vector<Token>& tokens,
                                            const Deadline& deadline) {
  std::vector<Call> calls;
  for (const Token& token : tokens) {
    calls.push_back(release_call(token, deadline));
    stamped(calls.back());
  }
  return calls;
}

void RedisStore::confirm(const Token& token) {
  PendingReleases& pending = client().pending_releases();
  if (!pending.is_empty()) pending.confirm(token);
  tell_own(token.gate, token.visitor);
}

std::vector<Token> RedisStore::confirm_all(const std::vector<Token>& tokens,
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

// What a step of this process carries is left to it; what is noted and not there any more is over.
void RedisStore::release_all(std::span<internal::ReleaseItem> items) noexcept try {
  using State = PendingReleases::State;
  const Deadline deadline(options_.timeout);
  std::vector<Call> calls;
  std::vector<internal::ReleaseItem*> called;
  for (internal::ReleaseItem& item : items) {
    const State state =
        item.is_noted ? client().pending_releases().state_of(item.token) : State::waiting;
    const bool is_foreign = item.token.fence != 0 && !identity().knows(item.token.store, deadline);
    item.is_over = is_foreign || state == State::over;  // Nobody can give back what is foreign.
    if (item.is_over || state == State::carried) continue;
    calls.push_back(release_call(item.token, deadline));
    called.push_back(&item);
  }
  const Client::Batch batch = run_all(calls, deadline);
  std::vector<GateName> unsettled;
  for (std::size_t i = 0; i < called.size(); ++i) {
    const std::optional<Reply>& reply = batch.replies[i];
    if (!reply || reply->is_error()) continue;
    const Token& token = called[i]->token;
    Unpacker fields(reply->text());
    const ReplyHead head = read_head(fields);
    if (head.kind == AnswerKind::again) {
      Call again = release_call(token, deadline);
      (void)run(stamped(again), {&token.gate, 1}, RetryPolicy::always, Which::few, deadline);
    } else if (head.more) {
      unsettled.push_back(token.gate);
    }
    called[i]->is_over = true;
    confirm(token);
  }
  settle(std::move(unsettled), deadline, deadline);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the rest is not over
}

// Before steps that go out as a batch.
void RedisStore::give_back_first(std::span<const GateName> gates) {
  PendingReleases& pending = client().pending_releases();
  if (pending.is_empty()) return;
  std::vector<internal::ReleaseItem> items;
  const PendingReleases::Load load =
      pending.pick_up(gates, Which::all, client().has_one_server(), clock().now());
  for (const Token& token : load.tokens()) items.push_back({.token = token});
  if (!items.empty()) release_all(items);
}

// There is no next step.
void RedisStore::give_back_at_last() noexcept try {
  PendingReleases& pending = client().pending_releases();
  std::vector<internal::ReleaseItem> items;
  for (const Token& token : pending.left_to_next_step()) items.push_back({.token = token});
  if (!items.empty()) release_all(items);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): time ends it
}

std::optional<Granted> RedisStore::set_hold(const Token& token, Hold hold) {
  const Deadline until = deadline();
  Call call = with_token(Step::hold, token, until);
  call.add(hold == Hold::detached ? "1" : "0").add("");
  const Result result = run(call.lasting(), token.gate, until);
  if (result.head.kind != AnswerKind::granted) {
    identity().recheck(until);
    return std::nullopt;
  }
  if (!result.acknowledged) throw too_few_replicas();
  Unpacker fields = result.fields();
  return read_granted(fields, token);
}

// In portions, each with a deadline of its own: it goes on for as long as there are more.
std::size_t RedisStore::revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                               Revoke how) {
  std::size_t count = 0;
  std::string rest;  // Where the script goes on.
  do {
    Call revoke = call(Step::revoke, gate);
    revoke.add(visitor ? pack_visitor(*visitor) : "").add(how == Revoke::now ? "1" : "0");
    const Result result =
        run(revoke.add(rest), gate,
            how == Revoke::now ? RetryPolicy::if_nothing_happened : RetryPolicy::always);
    Unpacker fields = result.fields();
    count += fields.whole<std::size_t>();
    rest = fields.rest();
  } while (!rest.empty());
  return count;
}

bool RedisStore::purge(const GateName& gate) {
  bool is_known = false;
  for (bool more = true; more;) {
    Call purge = call(Step::purge, gate);
    const Result result = run(purge, gate);
    is_known = is_known || happened(result);
    Unpacker fields = result.fields();
    (void)fields.flag();
    more = !fields.rest().empty();
  }
  return is_known;
}

// --- looking ---

std::optional<GateView> RedisStore::look(const GateName& gate) {
  Call look = call(Step::look, gate);
  const Result result = run(look, gate);
  if (result.reply.is_nil()) return std::nullopt;
  const LookParts parts = look_parts(result.reply);
  GateView view = read_view(gate, parts);
  Visits visits;
  add_all(result.reply.at(1), visits);
  if (const auto cursor = result.reply.at(2).text(); cursor != "0") {
    add_visits(gate, std::string(cursor), visits);
  }
  visits.show_in(view, Unpacker(parts.now).duration());
  return view;
}

void RedisStore::add_visits(const GateName& gate, std::string cursor, Visits& visits) {
  do {
    Call more = call(Step::visits, gate);
    stamped(more.add(cursor));
    const Reply portion = client().run(more, RetryPolicy::always, deadline()).reply;
    add_all(portion.at(1), visits);
    cursor = portion.at(0).text();
  } while (cursor != "0" && !cursor.empty());
}

Call RedisStore::survey_call(Gates gates, std::size_t portion) const {
  Call survey(script(Step::survey), naming_, gates);
  add_seed(survey).add_number(static_cast<std::int64_t>(portion));
  return survey;
}

Reply RedisStore::survey_alone(const GateName& gate, std::size_t portion) {
  Call survey = survey_call({&gate, 1}, portion);
  return client().run(stamped(survey), RetryPolicy::always, deadline()).reply;
}

// `reply`: of a call for this gate alone, or its part of one for several.
std::optional<Summary> RedisStore::summary_of(const GateName& gate, const Reply& reply) {
  if (reply.is_nil()) return std::nullopt;
  Summary summary(gate, summary_parts(reply));
  bool more = has_more(reply);
  for (std::size_t portion = 1; more && summary.is_sound(); ++portion) {
    const Reply further = survey_alone(gate, portion);
    if (further.is_nil()) break;
    summary.leave_out(further.at(1).text(), further.at(2).text());
    more = has_more(further);
  }
  if (summary.is_sound()) return summary;
  Visits visits;
  add_visits(gate, "0", visits);
  summary.count(visits);
  return summary;
}

void RedisStore::for_all(Gates gates, std::size_t together, const std::function<Call(Gates)>& make,
                         const Use& use) {
  while (!gates.empty()) {
    std::vector<Call> calls;
    std::vector<Gates> of_call;
    const std::size_t most = std::min(kPipelined, kReadAtOnce / together);
    while (!gates.empty() && calls.size() < most) {
      of_call.push_back(gates.first(std::min(together, gates.size())));
      gates = gates.subspan(of_call.back().size());
      calls.push_back(make(of_call.back()));
    }
    const Client::Batch batch = run_all(calls, deadline());
    for (std::size_t i = 0; i < calls.size(); ++i) use(of_call[i], batch, i);
  }
}

template <typename Read>
void RedisStore::use_summary(const GateName& gate, const Read& read, const Summarized& use,
                             const Failed& failed) {
  try {
    use(gate, read());
  } catch (const StoreError& error) {
    if (!failed || error.kind() != StoreError::Kind::incompatible) throw;
    failed(gate, error);
  }
}

// Those of a call for several that have to be asked for alone go out together.
void RedisStore::use_several(Gates gates, const Reply& all, const Summarized& use,
                             const Failed& failed) {
  std::vector<Call> calls;
  for (std::size_t at = 0; at < gates.size(); ++at) {
    if (!has_part(all, at)) calls.push_back(survey_call(gates.subspan(at, 1)));
  }
  const Client::Batch alone = run_all(calls, deadline());
  std::size_t next = 0;
  for (std::size_t at = 0; at < gates.size(); ++at) {
    const auto read = [&] {
      return has_part(all, at) ? summary_of(gates[at], all.at(at))
                               : summary_of(gates[at], reply_of(alone, next++));
    };
    use_summary(gates[at], read, use, failed);
  }
}

// Gates of a cluster are read one by one: a script may see one slot.
void RedisStore::summarize(Gates gates, const Summarized& use, const Failed& failed) {
  for_all(
      gates, client().has_one_server() ? kReadTogether : 1,
      [&](Gates some) { return survey_call(some); },
      [&](Gates some, const Client::Batch& batch, std::size_t i) {
        if (some.size() > 1 && batch.replies[i]) {
          return use_several(some, *batch.replies[i], use, failed);
        }
        for (const GateName& gate : some) {
          const auto read = [&] { return summary_of(gate, reply_of(batch, i)); };
          use_summary(gate, read, use, failed);
        }
      });
}

std::vector<GateCounts> RedisStore::counts(std::span<const GateName> gates) {
  std::vector<GateCounts> all;
  all.reserve(gates.size());
  give_back_first(gates);
  summarize(gates, [&](const GateName& /*gate*/, std::optional<Summary> summary) {
    all.push_back(summary ? summary->view.counts : GateCounts{});
  });
  return all;
}

std::vector<GateSummary> RedisStore::survey(
    const std::function<bool(std::string_view gate)>& include) {
  std::vector<GateName> gates = scan();
  std::erase_if(gates, [&](const GateName& gate) { return !include(gate.view()); });
  std::vector<GateSummary> all;
  summarize(
      gates,
      [&](const GateName& /*gate*/, std::optional<Summary> summary) {
        if (summary && !summary->is_idle()) all.push_back({.gate = std::move(summary->view)});
      },
      [&](const GateName& gate, const StoreError& error) {
        all.push_back({.gate = {.name = gate.text()}, .unreadable = error.what()});
      });
  return all;
}

std::vector<std::string> RedisStore::list() {
  std::vector<std::string> names;
  for (GateSummary& summary : survey([](std::string_view) { return true; }))
    names.push_back(std::move(summary.gate.name));
  return names;
}

// The names of all gates that a server may have.
void RedisStore::scan(Node& node, std::vector<std::string>& names) {
  std::string cursor = "0";
  do {
    Commands commands;
    commands.add_all({"SCAN", cursor, "MATCH", naming_.gate_pattern(), "COUNT", "256"});
    const Reply reply = client().ask(node, commands, deadline());
    cursor = reply.at(0).text();
    const Reply keys = reply.at(1);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::string name = naming_.gate_of(keys.at(i).text()); !name.empty()) {
        names.push_back(std::move(name));
      }
    }
  } while (cursor != "0" && !cursor.empty());
}

// Sorted. A key with a name that no gate can have is somebody else's.
std::vector<GateName> RedisStore::scan() {
  std::vector<std::string> names;
  for (const NodePtr& node : client().nodes(deadline())) scan(*node, names);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // SCAN may say one twice.
  std::vector<GateName> gates;
  gates.reserve(names.size());
  for (const std::string& name : names) {
    try {
      gates.emplace_back(name);
    } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch): as said above
    }
  }
  return gates;
}

// Brings every gate up to the present and forgets what is idle. One that cannot be read is left as it
// is.
void RedisStore::collect() {
  for_all(
      scan(), 1,
      [&](Gates gate) {
        Call settle = call(Step::settle, gate.front());
        settle.add("1");
        return settle;
      },
      [](Gates /*gate*/, const Client::Batch& batch, std::size_t i) {
        try {
          (void)reply_of(batch, i);
        } catch (const StoreError& error) {
          if (error.kind() != StoreError::Kind::incompatible) throw;
        }
      });
}

// --- being told ---

bool RedisStore::watch(const GateName& gate, const VisitorId& visitor,
                       std::function<void()> changed) {
  const auto channel = client().channel(gate);
  if (!watch_at(channel, gate, visitor, std::move(changed))) return false;
  Client::attend(*channel);
  return true;
}

// A clock that a test steps wakes nobody who listens.
bool RedisStore::await(const GateName& gate, const VisitorId& visitor,
                       const std::shared_ptr<Sleeper>& sleeper, Instant deadline) {
  if (options_.stepped != nullptr) return Backend::await(gate, visitor, sleeper, deadline);
  const auto channel = client().channel(gate);
  if (!watch_at(channel, gate, visitor, [sleeper] { sleeper->wake(true); })) return true;
  return Client::sleep(*channel, *sleeper, clock(), deadline);
}

// News is heard from the next attend() or sleep() on.
bool RedisStore::watch_at(const std::shared_ptr<WakeChannel>& channel, const GateName& gate,
                          const VisitorId& visitor, std::function<void()> changed) {
  Watchers& watchers = channel->watchers;
  const std::string key = watch_key(gate, visitor);
  const Watchers::Known known = watchers.watch_expected(key, changed);
  if (known != Watchers::Known::unknown) return known == Watchers::Known::watching;

  // Subscribed, confirmed, and only then asked: nothing can be missed in between.
  watchers.add(key, std::move(changed));
  bool watches = false;
  try {
    const bool hears = client().confirm(channel, deadline());
    const bool counts = hears && client().counts_hearers();
    Call watch = call(Step::watch, gate);
    watch.add(pack_visitor(visitor)).add(hears ? channel->name : "");
    watches = run(watch.add(counts ? "1" : "0"), gate).fields().flag();
  } catch (...) {
    watchers.remove(key);
    throw;
  }
  if (!watches) watchers.remove(key);
  return watches;
}

}  // namespace

Store make_store(Options options) {
  return internal::Handle::to(std::make_shared<RedisStore>(std::move(options)));
}

void deliver_messages(const Store& store) {
  if (auto* const own = dynamic_cast<RedisStore*>(internal::backend_of(store).get()))
    own->deliver_messages();
}

}  // namespace airlock::redis

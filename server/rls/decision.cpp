#include "rls/decision.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "airlock/error.hpp"
#include "rls/headers.hpp"
#include "rls/part.hpp"

namespace airlock::server::rls {
namespace {

using Question = airlock::Request;  // Not that of HTTP.

constexpr std::size_t kMaxTogether = 16;  // Gates that a store decides in one step.
constexpr const char* kLabel = "rate limit service";

Question question(const Part& part) {
  Question request{
      .gate = *part.gate, .visitor = part.visitor, .label = kLabel, .hold = Hold::detached};
  if (part.kind == Part::Kind::concurrency) {
    request.permits =
        Permits{.limit = part.concurrency.limit, .weight = part.hits, .ttl = part.concurrency.ttl};
  } else {
    request.rates = part.rates();
    request.cost = part.hits;
  }
  return request;
}

void note(Part& part, const RateInfo& info) {
  part.is_asked = true;
  part.remaining = info.remaining;
  part.until_reset = info.reset_after;
}

void note_granted(Part& part, const Granted& granted) {
  if (part.kind == Part::Kind::rate) {
    part.is_charged = true;
    return note(part, granted.rate);
  }
  part.is_asked = true;
  part.until_reset = granted.expires_in;
  if (!granted.repeated) part.token = granted.token;
}

void note_refused(Part& part, const Refused& refused) {
  part.is_over = true;
  note(part, refused.rate);
  part.until_reset = refused.retry_after;
}

// Of a gate with a limit, as it is now.
void count_remaining(const Store& store, Part& part) {
  const std::vector<GateCounts> counts = store.counts({&*part.gate, 1});
  const std::uint32_t in_use = counts.empty() ? 0 : counts.front().in_use;
  part.remaining = part.concurrency.limit - std::min(part.concurrency.limit, in_use);
}

// How it stands, without taking anything.
void peek(const Store& store, Part& part) {
  if (part.kind == Part::Kind::concurrency) {
    count_remaining(store, part);
    part.is_asked = true;
    part.is_over = part.remaining < std::max(1U, part.hits);
  } else if (part.kind == Part::Kind::rate) {
    Question request = question(part);
    request.mode = RateMode::peek;
    request.cost = std::clamp(part.hits, 1U, part.limit());
    const Answer answer = store.admit(request);
    if (const auto* const refused = std::get_if<Refused>(&answer))
      return note_refused(part, *refused);
    note(part, std::get<Granted>(answer).rate);
  }
}

void take(const Store& store, Part& part) {
  const Answer answer = store.admit(question(part));
  if (const auto* const refused = std::get_if<Refused>(&answer)) {
    note_refused(part, *refused);
  } else {
    note_granted(part, std::get<Granted>(answer));
  }
  if (part.kind == Part::Kind::concurrency) count_remaining(store, part);
}

// Undoes take(). What the store does not confirm comes back by time.
void give_back(const Store& store, Part& part) noexcept {
  try {
    if (part.token) (void)store.release(*part.token);
    if (part.is_charged) store.refund(question(part));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): as said
  }
  if (part.is_charged || part.token)
    part.remaining = std::min(part.limit(), part.remaining + part.hits);
  part.token.reset();
  part.is_charged = false;
}

// is_negative_hits: the place that the visitor holds, or hits that were charged before.
void give_back_earlier(const Store& store, Part& part) {
  if (part.kind == Part::Kind::rate && part.hits > 0) {
    part.hits = std::min(part.hits, part.limit());  // No more is remembered.
    store.refund(question(part));
  }
  if (part.kind == Part::Kind::concurrency) {
    Question request = question(part);
    request.permits->weight = 1;
    request.line.returning = true;  // Takes nothing where it does not hold.
    const Answer answer = store.admit(request);
    if (const auto* const granted = std::get_if<Granted>(&answer))
      (void)store.release(granted->token);
  }
  part.hits = 0;
  peek(store, part);
  part.is_over = false;
}

void check_rights(const Grants& grants, const RateLimitRequest& request,
                  const std::vector<Part>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].gate) continue;
    const std::string field = "descriptors[" + std::to_string(i) + "]";
    const auto require = [&](Role role, const std::string& at) {
      if (!grants.allows(role, parts[i].gate->view()))
        throw Forbidden{at, "the caller has not the role " + std::string(role_name(role)) +
                                " for the gate of this limit"};
    };
    require(Role::admit, field);
    if (request.descriptors[i].limit) require(Role::define, field + ".limit");
  }
}

class Decision {
 public:
  Decision(const Store& store, const Domain& domain, std::vector<Part>& parts)
      : store_(store), domain_(domain), parts_(parts) {}

  // Whether the request is let through.
  bool run() {
    if (domain_.is_atomic) check_together();
    for (Part& part : parts_) {
      if (part.gives_back && part.asks_store()) give_back_earlier(store_, part);
    }
    try {
      return take_all();
    } catch (const Error&) {
      give_back_all();
      throw;
    }
  }

 private:
  // Whether it takes, and its refusal counts.
  static bool decides(const Part& part) {
    return part.asks_store() && !part.gives_back && !part.is_shadow && part.hits > 0;
  }

  // One step of the store asks each gate once.
  void check_together() const {
    std::vector<std::string_view> gates;
    const Part* holder = nullptr;
    for (const Part& part : parts_) {
      if (!decides(part)) continue;
      if (std::find(gates.begin(), gates.end(), part.gate->view()) != gates.end())
        throw InvalidRequest{"descriptors", "two have the same entries, in an atomic domain"};
      gates.push_back(part.gate->view());
      if (part.kind != Part::Kind::concurrency) continue;
      if (holder != nullptr && holder->visitor != part.visitor)
        throw InvalidRequest{"descriptors", "name two visitors, in an atomic domain"};
      holder = &part;
    }
    if (gates.size() > kMaxTogether)
      throw InvalidRequest{"descriptors", "at most " + std::to_string(kMaxTogether) +
                                              " limits are decided together, in an atomic domain"};
  }

  // What no store has to be asked for: nothing is allowed, or more is wanted than there ever is. Whether that refuses the
  // request.
  bool mark_impossible() {
    bool is_refused = false;
    for (Part& part : parts_) {
      const bool has_limit = part.asks_store() || part.kind == Part::Kind::blocked;
      if (!has_limit || part.gives_back || part.hits <= part.limit()) continue;
      part.is_over = true;
      is_refused = is_refused || !part.is_shadow;
    }
    return is_refused;
  }

  // Those with 0 hits ask whether one more would pass, and take nothing.
  bool look_first() {
    bool passes = true;
    for (Part& part : parts_) {
      if (!part.asks_store() || part.gives_back || part.hits != 0) continue;
      peek(store_, part);
      passes = passes && (part.is_shadow || !part.is_over);
    }
    return passes;
  }

  bool take_all() {
    bool passes = !mark_impossible() && look_first();
    if (passes) passes = domain_.is_atomic ? take_together() : take_in_turn();
    if (!passes) give_back_all();
    for (Part& part : parts_) finish(part, passes);
    return passes;
  }

  bool take_in_turn() {
    for (Part& part : parts_) {
      if (!decides(part)) continue;
      take(store_, part);
      if (part.is_over) return false;
    }
    return true;
  }

  bool take_together() {
    std::vector<Part*> asked;
    std::vector<Question> requests;
    VisitorId visitor = VisitorId::random();
    for (Part& part : parts_) {
      if (!decides(part)) continue;
      asked.push_back(&part);
      requests.push_back(question(part));
      if (part.kind == Part::Kind::concurrency) visitor = part.visitor;
    }
    if (asked.empty()) return true;
    for (Question& request : requests) request.visitor = visitor;
    const GroupAnswer answer = store_.admit_all(requests);
    if (!answer) {
      note_refused(*asked[answer.at], std::get<Refused>(answer.because));
      return false;
    }
    for (std::size_t i = 0; i < asked.size(); ++i) note_granted(*asked[i], answer.granted[i]);
    for (Part* const part : asked) {
      if (part->kind == Part::Kind::concurrency) count_remaining(store_, *part);
    }
    return true;
  }

  void give_back_all() {
    for (Part& part : parts_) give_back(store_, part);
  }

  // Those that were not asked yet: shadows take where the request passes, the others say how they stand.
  void finish(Part& part, bool passes) {
    if (!part.asks_store() || part.gives_back || part.is_asked) return;
    if (part.is_shadow && passes && !part.is_over) return take(store_, part);
    const bool was_over = part.is_over;
    peek(store_, part);
    part.is_over = part.is_over || was_over;
  }

  const Store& store_;
  const Domain& domain_;
  std::vector<Part>& parts_;
};

}  // namespace

RateLimitResponse decide(const Store& store, const Descriptors& descriptors,
                         const RateLimitRequest& request, const Grants& grants,
                         Counters& counters) {
  RateLimitResponse response;
  const Domain* const domain = descriptors.find(request.domain);
  if (domain == nullptr) {
    counters.count_unknown_domain();
    response.statuses.resize(request.descriptors.size());
    return response;
  }
  std::vector<Part> parts = make_parts(*domain, request);
  check_rights(grants, request, parts);
  const bool passes = Decision(store, *domain, parts).run();
  response.overall_code = passes ? Code::ok : Code::over_limit;
  for (const Part& part : parts) {
    response.statuses.push_back(part.status());
    counters.count(part, passes);
  }
  add_headers(response, domain->headers, parts);
  return response;
}

}  // namespace airlock::server::rls

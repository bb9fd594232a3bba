#include "store/redis/support/twins.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <vector>

#include "contract/support/describe.hpp"
#include "store/redis/call.hpp"
#include "store/validate.hpp"

namespace airlock::trial {
namespace {

constexpr std::size_t kTokens = 40;

// What is different in the keys of two gates, and which of them has no ttl.
constexpr std::string_view kCompareKeys = R"lua(
local differences = ''
local function compare(what, one, other)
  if one == other then return end
  local function shown(bytes)
    return bytes and string.gsub(bytes, '[^%w:]', function(c) return '\\' .. string.byte(c) end) or '-'
  end
  differences = differences .. what .. ' ' .. shown(one) .. ' or ' .. shown(other) .. '\n'
end
local function fields_of(key)
  local flat, fields = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end
local one, other = fields_of(KEYS[1]), fields_of(KEYS[6])
for field, value in pairs(one) do compare(field, value, other[field]) end
for field, value in pairs(other) do if not one[field] then compare(field, nil, value) end end
for part = 2, 5 do
  local function members(key)
    return table.concat(redis.call('ZRANGE', key, 0, -1, 'WITHSCORES'), ' ')
  end
  compare(KEYS[part], members(KEYS[part]), members(KEYS[part + 5]))
end
for part = 1, 5 do
  local ttl, other_ttl = redis.call('PTTL', KEYS[part]), redis.call('PTTL', KEYS[part + 5])
  local is_same = ttl == other_ttl or (ttl > 0 and other_ttl > 0 and math.abs(ttl - other_ttl) < 60000)
  if not is_same then compare('ttl of ' .. KEYS[part], tostring(ttl), tostring(other_ttl)) end
end
return differences
)lua";

Granted without_fence(Granted granted) {
  granted.token.fence = granted.token.fence != 0 ? 1 : 0;
  return granted;
}

std::string text_of(const Granted& granted) { return contract::describe(without_fence(granted)); }

struct Text {
  std::string operator()(std::monostate /*nothing*/) const { return "nothing"; }
  std::string operator()(Rejected /*reply*/) const { return "rejected"; }
  std::string operator()(bool reply) const { return reply ? "true" : "false"; }
  std::string operator()(std::size_t reply) const { return std::to_string(reply); }
  std::string operator()(Renewal reply) const {
    return "renewal " + std::to_string(static_cast<int>(reply));
  }
  std::string operator()(const std::optional<Granted>& reply) const {
    return reply ? text_of(*reply) : "gone";
  }
  std::string operator()(const Answer& reply) const {
    const auto* granted = std::get_if<Granted>(&reply);
    return granted != nullptr ? text_of(*granted) : contract::describe(reply);
  }
  std::string operator()(const GroupAnswer& reply) const {
    std::string text = "at " + std::to_string(reply.at);
    for (const Granted& granted : reply.granted) text += "\n  " + text_of(granted);
    if (const auto* queued = std::get_if<Queued>(&reply.because)) {
      text += " " + contract::describe(Answer(*queued));
    } else if (const auto* refused = std::get_if<Refused>(&reply.because)) {
      text += " " + contract::describe(Answer(*refused));
    }
    return text;
  }
};

// Holders that came and end together may be shown in any order.
std::string text_of(std::optional<GateView> view) {
  if (!view) return "unknown";
  view->last_fence = view->last_fence != 0 ? 1 : 0;
  for (HolderView& holder : view->holders) holder.fence = holder.fence != 0 ? 1 : 0;
  std::ranges::sort(view->holders, {}, [](const HolderView& holder) {
    return std::tuple(-holder.age, holder.visitor);
  });
  return contract::describe(*view);
}

}  // namespace

bool is_valid(const Operation& operation) try {
  std::vector<Request> requests;
  for (const Ask& ask : operation.asks) requests.push_back(ask.request());
  if (operation.step == Step::admit_all) {
    validate_group(requests);
  } else if (!requests.empty()) {
    validate(requests.front());
  }
  return true;
} catch (const InvalidArgument&) {
  return false;
}

Reply perform(const Store& store, const Operation& operation, const Token& token,
              std::size_t gates) try {
  const std::string gate = gate_text(operation.gate);
  const VisitorId visitor = visitor_id(operation.visitor);
  std::vector<Request> requests;
  for (const Ask& ask : operation.asks) requests.push_back(ask.request());
  switch (operation.step) {
    case Step::admit:
      return store.admit(requests.front());
    case Step::admit_all:
      return store.admit_all(requests);
    case Step::leave:
      return store.leave(gate, visitor);
    case Step::mark_absent:
      return store.mark_absent(gate, visitor);
    case Step::refund:
      return store.refund(requests.front()), Reply();
    case Step::renew: {
      RenewItem item{.token = token, .ttl = operation.length, .weight = operation.number};
      store.renew({&item, 1});
      return item.result;
    }
    case Step::release:
      return store.release(token);
    case Step::disown:
      return store.disown(token);
    case Step::adopt:
      return store.adopt(token);
    case Step::set_limit:
      return store.set_limit(gate, operation.number), Reply();
    case Step::pause:
      return store.pause(gate, operation.length, operation.reporter), Reply();
    case Step::resume:
      return store.resume(gate, operation.reporter);
    case Step::revoke:
      return store.revoke(gate, operation.all ? std::nullopt : std::optional(visitor),
                          operation.how);
    case Step::purge:
      return store.purge(gate);
    case Step::sweep:
      for (std::size_t i = 0; i < gates; ++i) (void)store.look(gate_text(i));
      return {};
    case Step::end_owner:
      return {};
  }
  return {};
} catch (const InvalidArgument&) {
  return Rejected{};
}

RedisTwins::RedisTwins(std::uint64_t seed, const Profile& profile, std::size_t look_every)
    : profile_(profile),
      look_every_(look_every),
      seeds_(static_cast<std::uint32_t>(seed)),
      shard_(head_, memory_, listener_, 77),
      store_(open(prefix_, stepped::scripts())),
      slow_store_(open(slow_prefix_, stepped::slow_scripts())),
      connection_(testing::RedisServer::shared().address(), nullptr, "twins",
                  redis::Deadline(10s)) {
  touch_all();
}

Store RedisTwins::open(const std::string& prefix, const redis::Scripts& scripts) {
  return redis::make_store({.address = testing::RedisServer::shared().address(),
                            .prefix = prefix,
                            .timeout = 10s,
                            .scripts = &scripts,
                            .stepped = &clock_,
                            .seed = [this] { return seed_; }});
}

// Making or forgetting a gate touches others in passing; the scripts know no others.
void RedisTwins::touch_all() {
  last_touch_ = clock_.now();
  for (std::size_t i = 0; i < profile_.gates; ++i) {
    Operation touch{.step = Step::pause, .gate = i, .length = 1us, .reporter = "touch"};
    for (const Step step : {Step::pause, Step::resume}) {
      touch.step = step;
      (void)perform_rules(touch, Token{.gate = "none"});
      (void)perform_redis(touch, Token{.gate = "none"});
    }
  }
}

void RedisTwins::pass_time(const Operation& operation) {
  clock_.advance(operation.after);
  clock_.set_wall(clock_.wall() + operation.wall_jump);
  head_.sweep = 0;
  head_.steps = 0;
  seed_ = static_cast<std::uint32_t>(1 + seeds_() % 2'147'483'646);
  if (clock_.now() - last_touch_ > 5min) touch_all();
}

std::string RedisTwins::apply(const Operation& operation) {
  pass_time(operation);
  if (operation.step == Step::end_owner || !is_valid(operation)) return {};
  TokenPair token{{77, "g/0", {}, 1}, {store_.id(), "g/0", {}, 1}};
  if (!tokens_.empty()) token = tokens_[operation.token % tokens_.size()];
  const Reply rules = perform_rules(operation, token.rules);
  const Reply redis = perform_redis(operation, token.redis);
  compare("reply", std::visit(Text(), rules), std::visit(Text(), redis));
  if (difference_.empty()) note_tokens(rules, redis);
  if (++steps_ % look_every_ != 0) return std::exchange(difference_, {});

  if (needs_token(operation.step)) look_at(token.rules.gate.text());
  if (!needs_token(operation.step)) look_at(gate_text(operation.gate));
  for (const Ask& ask : operation.asks) {
    if (ask.gate != operation.gate) look_at(gate_text(ask.gate));
  }
  return std::exchange(difference_, {});
}

Reply RedisTwins::perform_rules(const Operation& operation, const Token& token) {
  model::Draw draw(seed_);
  model::StepContext context{clock_.now().count(), clock_.wall().count(), draw};
  if (operation.step != Step::sweep) return trial::perform(shard_, operation, token, context);
  for (std::size_t i = 0; i < profile_.gates; ++i) {
    draw = model::Draw(seed_);
    (void)shard_.counts(gate_text(i), gate_hash(gate_text(i)), context);
  }
  return {};
}

Reply RedisTwins::perform_redis(const Operation& operation, Token token) {
  const Reply reply = trial::perform(store_, operation, token, profile_.gates);
  token.store = slow_store_.id();
  const Reply slow = trial::perform(slow_store_, operation, token, profile_.gates);
  compare("without fast paths", std::visit(Text(), slow), std::visit(Text(), reply));
  return reply;
}

void RedisTwins::note_tokens(const Reply& rules, const Reply& redis) {
  if (const auto* answer = std::get_if<Answer>(&rules)) {
    const auto* granted = std::get_if<Granted>(answer);
    if (granted != nullptr) note_token(*granted, std::get<Granted>(std::get<Answer>(redis)));
  } else if (const auto* group = std::get_if<GroupAnswer>(&rules)) {
    for (std::size_t i = 0; i < group->granted.size(); ++i) {
      note_token(group->granted[i], std::get<GroupAnswer>(redis).granted[i]);
    }
  }
}

void RedisTwins::note_token(const Granted& rules, const Granted& redis) {
  tokens_.push_front({rules.token, redis.token});
  if (tokens_.size() > kTokens) tokens_.pop_back();
  if (redis.token.fence == 0) return;
  for (const TokenPair& other : tokens_) {
    if (other.rules.gate != rules.token.gate || other.rules.fence == 0) continue;
    const auto order = [](Fence a, Fence b) { return a < b ? "lower" : a > b ? "higher" : "same"; };
    compare("fence", order(other.rules.fence, rules.token.fence),
            order(other.redis.fence, redis.token.fence));
  }
  Fence& highest = highest_[rules.token.gate.text()];
  if (redis.token.fence > highest) highest = redis.token.fence;
}

void RedisTwins::look_at(const std::string& gate) {
  model::Draw draw(seed_);
  model::StepContext context{clock_.now().count(), clock_.wall().count(), draw};
  compare_keys(gate);
  compare(gate, text_of(shard_.look(gate, gate_hash(gate), context)), text_of(store_.look(gate)));
  (void)slow_store_.look(gate);
}

void RedisTwins::compare_keys(const std::string& gate) {
  redis::Commands compare;
  compare.begin(13);
  compare.add("EVAL").add(kCompareKeys).add("10");
  for (const std::string& prefix : {prefix_, slow_prefix_}) {
    for (const std::string_view part : redis::Naming::kParts) {
      compare.add(redis::Naming(prefix).key(gate, part));
    }
  }
  this->compare("keys of " + gate + " without fast paths", "",
                std::string(connection_.ask(compare, redis::Deadline(10s)).text()));
}

void RedisTwins::compare(const std::string& what, const std::string& rules,
                         const std::string& redis) {
  if (rules == redis) return;
  difference_ += what + "\n--- the rules say\n" + rules + "\n--- the scripts say\n" + redis + "\n";
}

}  // namespace airlock::trial

#include "store/redis/step_calls.hpp"

#include <string>

#include "base/random.hpp"
#include "store/redis/wire.hpp"

namespace airlock::redis {

// And what else a script is to know of the options and the server: behind ten digits, by which it knows
// that there is something.
void StepCalls::add_seed(Call& call) const {
  std::string text = std::to_string(options_.seed ? options_.seed() : base::random31());
  if (options_.handover_delay == Duration(0)) {
    call.add(text);
    return;
  }
  text.insert(0, 10 - text.size(), '0');
  text.append(";").append(std::to_string(options_.handover_delay.count())).append(";");
  call.add_with_run_id(text);
}

Call StepCalls::make(Step step, std::span<const GateName> gates) const {
  Call call((*options_.scripts)[static_cast<std::size_t>(step)], naming_, gates);
  add_seed(call);
  return call;
}

Call StepCalls::read_gates(std::span<const GateName> gates) const {
  Call call((*options_.scripts)[static_cast<std::size_t>(Step::read_gates)], naming_, gates,
            std::span(Naming::kParts).first(1));
  add_seed(call);
  return call;
}

Call StepCalls::with_token(Step step, const Token& token, const Deadline& deadline) const {
  if (!identity_.knows(token.store, deadline)) {
    throw InvalidArgument("the token belongs to another store");
  }
  Call call = make(step, token.gate);
  call.add(pack_visitor(token.visitor)).add_number(static_cast<std::int64_t>(token.fence));
  return call;
}

Call StepCalls::release(const Token& token, const Deadline& deadline) const {
  if (token.fence != 0) return with_token(Step::release, token, deadline);
  Call leave = make(Step::leave, token.gate);
  leave.add(pack_visitor(token.visitor)).add("1");
  return leave;
}

Call& StepCalls::stamp(Call& call) const {
  if (options_.stepped != nullptr) {
    call.add_number(options_.stepped->now().count());
    call.add_number(options_.stepped->wall().count());
  }
  return call;
}

}  // namespace airlock::redis

#pragma once

#include <span>

#include "airlock/token.hpp"
#include "store/redis/call.hpp"
#include "store/redis/identity.hpp"
#include "store/redis/options.hpp"

namespace airlock::redis {

// Makes the calls of a store's steps: the script, the keys of its gates, and the arguments that every
// script of that kind begins with; and ends them with stamp().
class StepCalls {
 public:
  StepCalls(const Options& options, Identity& identity)
      : options_(options), identity_(identity), naming_(options.prefix) {}

  [[nodiscard]] Call make(Step step, const GateName& gate) const { return make(step, {&gate, 1}); }
  [[nodiscard]] Call make(Step step, std::span<const GateName> gates) const;

  // That reads the hashes of the gates and none of the sets.
  [[nodiscard]] Call read_gates(std::span<const GateName> gates) const;

  // For the holder of a token. InvalidArgument: of another store.
  [[nodiscard]] Call with_token(Step step, const Token& token, const Deadline& deadline) const;

  // What ends a lease, or where only the visitor is known whatever it has.
  [[nodiscard]] Call release(const Token& token, const Deadline& deadline) const;

  // The last arguments, where a test steps the time: what it is.
  Call& stamp(Call& call) const;

  [[nodiscard]] const Naming& naming() const noexcept { return naming_; }

 private:
  void add_seed(Call& call) const;

  const Options& options_;
  Identity& identity_;
  const Naming naming_;
};

}  // namespace airlock::redis

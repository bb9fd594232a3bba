#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "airlock/token.hpp"

// A command inside an admission that asks for another one: it knows its outer admissions by their
// tokens, which `run` passes on in AIRLOCK_TOKENS, the outermost first, with spaces between them.

namespace airlock::cli {

// Nothing for what is not a token.
[[nodiscard]] std::vector<Token> outer_tokens();

// The variable for a command inside one more admission.
[[nodiscard]] std::string tokens_variable(const std::string& innermost);

// A place in a line, and what it needs.
struct Standing {
  GateName gate;
  std::uint32_t position;  // 1: next.
  std::uint32_t weight;
  std::uint32_t limit;
  bool is_lock = false;  // Operators cannot raise the limit.
};

// Whether an outer admission of this command must end first: what it holds leaves too little for
// this ask, or for another one that is served before it. Such a wait would never end.
[[nodiscard]] bool waits_for_outer(const Store& store, const Standing& standing);

}  // namespace airlock::cli

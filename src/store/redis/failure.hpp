#pragma once

#include <string>
#include <string_view>

#include "airlock/error.hpp"

namespace airlock::redis {

using Outcome = StoreError::Outcome;

// Not reachable: nothing was sent, or it is not known what became of it.
[[nodiscard]] StoreError unavailable(const std::string& what,
                                     Outcome outcome = Outcome::nothing_happened);

// Reachable, perhaps, but too slow.
[[nodiscard]] StoreError too_late(const std::string& what,
                                  Outcome outcome = Outcome::nothing_happened);

// An error reply, by its first word: who can help, and whether anything can have happened.
[[nodiscard]] StoreError refusal_of(std::string_view reply);

// Whether a reply, or what a script met, says that the user lacks a right.
[[nodiscard]] bool is_denied(std::string_view reply);

}  // namespace airlock::redis

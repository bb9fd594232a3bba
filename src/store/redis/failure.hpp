#pragma once

#include <string>
#include <string_view>

#include "airlock/error.hpp"

namespace airlock::redis {

using Outcome = StoreError::Outcome;

// Not reachable: nothing was sent, or it is not known what became of it.
[[nodiscard]] StoreError unavailable(const std::string& what,
                                     Outcome outcome = Outcome::nothing_happened);

// Reachable, but not done in time.
[[nodiscard]] StoreError too_late(const std::string& what,
                                  Outcome outcome = Outcome::nothing_happened);

// Granted or renewed, and not on as many replicas as replicas_ack says.
[[nodiscard]] StoreError too_few_replicas(Outcome outcome = Outcome::unknown);

// The same, with the server in its text.
[[nodiscard]] StoreError at(const std::string& server, const StoreError& error);

// What it says, for another message to quote.
[[nodiscard]] std::string text_of(const StoreError& error);

// The same after an earlier attempt of which nobody knows what became.
[[nodiscard]] StoreError unknown(const StoreError& error);

// An error reply, by its first word: who can help, and whether anything can have happened. Never shows
// what was sent: that may be a password.
[[nodiscard]] StoreError refusal_of(std::string_view reply);

// What an error says, kept to be thrown by another thread: copies of an exception share their text.
struct Failure {
  StoreError::Kind kind = StoreError::Kind::unavailable;
  Outcome outcome = Outcome::nothing_happened;
  std::string text;

  [[nodiscard]] static Failure of(const StoreError& error) {
    return {error.kind(), error.outcome(), error.what()};
  }
  [[nodiscard]] StoreError error() const { return {kind, outcome, text}; }
};

// Whether a reply, or what a script met, says that the user lacks a right.
[[nodiscard]] bool is_denied(std::string_view reply);

}  // namespace airlock::redis

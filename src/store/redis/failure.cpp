#include "store/redis/failure.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>

namespace airlock::redis {
namespace {

using Kind = StoreError::Kind;

constexpr std::string_view kName = "redis";  // What every message begins with.

struct Code {
  std::string_view word;
  Kind kind;
  std::string_view advice;
};

// Each of these is said before a script has written anything.
constexpr std::array kCodes = {
    Code{"READONLY", Kind::unavailable, "this is a replica"},
    Code{"LOADING", Kind::unavailable, "the server is loading its data"},
    Code{"MASTERDOWN", Kind::unavailable, "a replica without its primary"},
    Code{"NOREPLICAS", Kind::unavailable, "too few replicas for min-replicas-to-write"},
    Code{"CLUSTERDOWN", Kind::unavailable, "the cluster is down"},
    Code{"TRYAGAIN", Kind::unavailable, "the slot is moving"},
    Code{"BUSY", Kind::busy, "another script runs too long"},
    Code{"OOM", Kind::no_room, "maxmemory is reached; what is held is unaffected"},
    Code{"MISCONF", Kind::incompatible, "the server cannot save; see its log"},
    Code{"NOAUTH", Kind::incompatible, "a user and a password are needed"},
    Code{"WRONGPASS", Kind::incompatible, "wrong user or password"},
    Code{"NOPERM", Kind::incompatible, "the user lacks a right; docs/stores.md has the ACL line"},
    Code{"WRONGTYPE", Kind::incompatible, "a key of this prefix holds something else"},
    Code{"MOVED", Kind::incompatible, "this is a cluster; open it as redis+cluster://"},
    Code{"CROSSSLOT", Kind::incompatible, "this is a cluster; open it as redis+cluster://"},
};

// Errors without a word of their own.
struct Phrase {
  std::string_view words;
  Kind kind;
  std::string_view advice;
};

constexpr std::array kPhrases = {
    Phrase{"max number of clients", Kind::no_room,
           "maxclients is reached; raise it at the server, or lower pool= here"},
    Phrase{"without any password configured", Kind::incompatible,
           "a password is given, and the user default of this server has none; leave it out, or "
           "name the user that it belongs to"},
    Phrase{"cluster support disabled", Kind::incompatible,
           "this server is not part of a cluster; open it as redis://"},
    Phrase{"invalid password", Kind::incompatible, "wrong password"},
    Phrase{"invalid username-password pair", Kind::incompatible, "wrong user or password"},
};

// One line, without the arguments that a server repeats.
std::string shown(std::string_view reply) {
  constexpr std::size_t kMost = 300;
  std::string text(reply.substr(0, std::min(reply.find(", with args beginning"), kMost)));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// Older servers wrap what a script met: `ERR Error running script ...: OOM command not ...`.
bool says(std::string_view reply, std::string_view word) {
  const std::size_t at = reply.find(word);
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + word.size();
  const bool ends = end == reply.size() || reply[end] == ' ';
  return ends && (at == 0 || reply.substr(0, at).ends_with(": ") ||
                  reply.substr(0, at).ends_with(": -") || reply.substr(0, at).ends_with(" '"));
}

// How a script tells of a gate that another version has written: `AIRLOCKSCHEMA 1 2`, what it has
// and what this program has.
std::optional<StoreError> other_schema(std::string_view reply) {
  constexpr std::string_view kWord = "AIRLOCKSCHEMA";
  if (!says(reply, kWord)) return std::nullopt;
  unsigned gate = 0;
  unsigned own = 0;
  const std::string numbers(reply.substr(reply.find(kWord) + kWord.size()));
  if (std::sscanf(numbers.c_str(), "%u %u", &gate, &own) != 2) return std::nullopt;
  return StoreError(Kind::incompatible, Outcome::nothing_happened,
                    "redis: the gate has schema " + std::to_string(gate) +
                        ", and this program has " + std::to_string(own) +
                        "; docs/upgrade.md says what to do");
}

}  // namespace

StoreError unavailable(const std::string& what, Outcome outcome) {
  return {Kind::unavailable, outcome, "redis: " + what};
}

StoreError too_late(const std::string& what, Outcome outcome) {
  return {Kind::busy, outcome, "redis: " + what};
}

StoreError too_few_replicas(Outcome outcome) {
  return unavailable("too few replicas have it; see replicas_ack", outcome);
}

StoreError at(const std::string& server, const StoreError& error) {
  const std::string text = text_of(error);
  if (text.find(server) != std::string::npos) return error;
  return {error.kind(), error.outcome(), std::string(kName) + " " + server + ": " + text};
}

std::string text_of(const StoreError& error) {
  std::string_view text = error.what();
  for (const std::string_view start : {": ", " "}) {
    if (text.starts_with(std::string(kName).append(start))) {
      text.remove_prefix(kName.size() + start.size());
      break;
    }
  }
  return std::string(text);
}

StoreError unknown(const StoreError& error) {
  return {error.kind(), Outcome::unknown, error.what()};
}

// The second and the third are how a script tells of it.
bool is_denied(std::string_view reply) {
  return says(reply, "NOPERM") || reply.find("ACL failure") != std::string_view::npos ||
         reply.find("The user executing the script can't") != std::string_view::npos;
}

StoreError refusal_of(std::string_view reply) {
  if (const auto other = other_schema(reply)) return *other;
  for (const Code& code : kCodes) {
    if (!says(reply, code.word)) continue;
    return {code.kind, Outcome::nothing_happened,
            std::string("redis: ").append(code.word).append(": ").append(code.advice)};
  }
  if (is_denied(reply)) return refusal_of("NOPERM");
  for (const Phrase& phrase : kPhrases) {
    if (reply.find(phrase.words) == std::string_view::npos) continue;
    return {phrase.kind, Outcome::nothing_happened, "redis: " + std::string(phrase.advice)};
  }
  return {Kind::incompatible, Outcome::unknown, "redis: the server says: " + shown(reply)};
}

}  // namespace airlock::redis

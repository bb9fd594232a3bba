#include "lincheck/support/history.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace airlock::lincheck {
namespace {

constexpr std::array kKinds = {"ask", "join", "leave", "release", "renew", "look", "take", "death"};
constexpr std::array kResults = {"granted", "repeated", "queued", "refused",
                                 "yes",     "no",       "seen",   "an odd answer"};

bool has_token(const Operation& operation) {
  return operation.kind == Kind::release || operation.kind == Kind::renew;
}

bool is_grant(const Operation& operation) {
  return operation.result == Result::granted || operation.result == Result::repeated;
}

// Fences are the time of day, in microseconds: nobody can read them.
class Ranks {
 public:
  explicit Ranks(const History& history) {
    for (const Operation& operation : history) fences_.insert(operation.fence);
    fences_.erase(0);
  }
  [[nodiscard]] std::string of(std::uint64_t fence) const {
    if (fence == 0) return "0";
    return std::to_string(1 + std::distance(fences_.begin(), fences_.find(fence)));
  }

 private:
  std::set<std::uint64_t> fences_;
};

std::string question_of(const Operation& operation, const Ranks& ranks) {
  std::string text = kKinds.at(static_cast<std::size_t>(operation.kind));
  if (operation.kind == Kind::look) return text;
  if (operation.kind == Kind::take) return text + " " + std::to_string(operation.weight);
  text += " visitor " + std::to_string(operation.visitor);
  if (has_token(operation)) text += " fence " + ranks.of(operation.fence);
  if (operation.kind == Kind::ask || operation.kind == Kind::join) {
    text += " weight " + std::to_string(operation.weight);
  }
  return text;
}

std::string answer_of(const Operation& operation, const Ranks& ranks) {
  if (!operation.is_answered()) return "no answer";
  if (operation.kind == Kind::death) return "noticed";
  std::string text = kResults.at(static_cast<std::size_t>(operation.result));
  if (operation.kind == Kind::take) return text;
  if (is_grant(operation)) {
    text += ", fence " + ranks.of(operation.fence);
    if (operation.number != kNoSlot) text += ", slot " + std::to_string(operation.number);
  }
  if (operation.result == Result::queued) text += ", position " + std::to_string(operation.number);
  if (operation.result == Result::seen) text += ", in use " + std::to_string(operation.number);
  return text;
}

std::string time_text(Time time, Time start) {
  if (time == kNever) return "     never";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%10.1f", static_cast<double>(time - start) / 1000);
  return text.data();
}

}  // namespace

std::string text(const History& history) { return text(history, history); }

std::string text(const History& part, const History& whole) {
  Time start = kNever;
  for (const Operation& operation : whole) start = std::min(start, operation.called);
  const Ranks ranks(whole);
  History sorted = part;
  std::ranges::stable_sort(sorted, {}, &Operation::called);
  std::string text = "  called us  returned us\n";
  for (const Operation& operation : sorted) {
    text += " " + time_text(operation.called, start) + " " + time_text(operation.returned, start) +
            "   client " + std::to_string(operation.client) + ": " + question_of(operation, ranks) +
            " -> " + answer_of(operation, ranks) + "\n";
  }
  return text;
}

}  // namespace airlock::lincheck

#include "lincheck/support/gate_model.hpp"

#include <algorithm>
#include <utility>

namespace airlock::lincheck {
namespace {

using Inside = GateModel::Inside;
using Waiting = GateModel::Waiting;
using State = GateModel::State;

// One operation at one state: what it does, and whether the answer says so.
class Step {
 public:
  Step(std::uint32_t limit, State& state, const Operation& operation)
      : limit_(limit), state_(state), operation_(operation) {}

  // False: the answer cannot be right.
  bool is_right() {
    switch (operation_.kind) {
      case Kind::ask:
      case Kind::join:
        return ask();
      case Kind::leave:
        return found(erase_from_line() || erase_inside(false));
      case Kind::release:
        return found(token_is_in() && erase_inside(true));
      case Kind::renew:
        return found(token_is_in());
      case Kind::look:
        return is_answer(Result::seen, in_use());
      case Kind::death:
        (void)(erase_from_line() || erase_inside(false) || erase_inside(true));
        return true;
      case Kind::take:
        break;
    }
    return false;
  }

 private:
  // --- what is there ---

  [[nodiscard]] std::vector<Inside>::iterator inside() {
    return std::ranges::find(state_.inside, operation_.visitor, &Inside::visitor);
  }
  [[nodiscard]] std::vector<Waiting>::iterator waiting() {
    return std::ranges::find(state_.line, operation_.visitor, &Waiting::visitor);
  }
  [[nodiscard]] bool token_is_in() {
    const auto found = inside();
    return found != state_.inside.end() && found->fence != 0 && found->fence == operation_.fence;
  }
  [[nodiscard]] std::uint32_t in_use() const {
    std::uint32_t sum = 0;
    for (const Inside& visitor : state_.inside) sum += visitor.weight;
    return sum;
  }
  [[nodiscard]] bool fits(std::uint32_t weight) const { return in_use() + weight <= limit_; }

  // --- what the answer says ---

  [[nodiscard]] bool is_answer(Result result) const {
    return !operation_.is_answered() || operation_.result == result;
  }
  [[nodiscard]] bool is_answer(Result result, std::uint32_t number) const {
    return !operation_.is_answered() ||
           (operation_.result == result && operation_.number == number);
  }
  [[nodiscard]] bool found(bool there) const { return is_answer(there ? Result::yes : Result::no); }

  bool is_grant(Inside& visitor, Result result) {
    if (operation_.is_answered()) {
      return operation_.result == result && learn_fence(visitor) && learn_slot(visitor);
    }
    // Minimal forgets answers, but who was told a fence goes on using it.
    if (visitor.fence == 0) visitor.fence = operation_.fence;
    return true;
  }
  // The fence lies between those of the admissions before and after.
  bool learn_fence(Inside& visitor) {
    if (visitor.fence != 0) return operation_.fence == visitor.fence;
    if (operation_.fence <= visitor.floor) return false;
    for (const Inside& other : state_.inside) {
      const bool later = &other > &visitor;
      if (other.fence == 0) continue;
      if (later ? other.fence <= operation_.fence : other.fence >= operation_.fence) return false;
    }
    visitor.fence = operation_.fence;
    state_.last_fence = std::max(state_.last_fence, visitor.fence);
    return true;
  }
  bool learn_slot(Inside& visitor) {
    const std::uint32_t slot = operation_.number;
    if (visitor.slot != kNoSlot || visitor.weight != 1) return slot == visitor.slot;
    if (slot >= limit_ || std::ranges::count(state_.inside, slot, &Inside::slot) != 0) return false;
    visitor.slot = slot;
    return true;
  }

  // --- what happens ---

  bool ask() {
    if (const auto found = inside(); found != state_.inside.end()) {
      const bool repeated = std::exchange(found->claimed, true);
      return is_grant(*found, repeated ? Result::repeated : Result::granted);
    }
    if (const auto found = waiting(); found != state_.line.end()) {
      return is_answer(Result::queued, 1 + static_cast<std::uint32_t>(found - state_.line.begin()));
    }
    if (state_.line.empty() && fits(operation_.weight)) {
      return is_grant(let_in(operation_.visitor, operation_.weight, true), Result::granted);
    }
    if (operation_.kind == Kind::ask) return is_answer(Result::refused);
    state_.line.push_back({operation_.visitor, operation_.weight});
    return is_answer(Result::queued, static_cast<std::uint32_t>(state_.line.size()));
  }

  Inside& let_in(std::uint8_t visitor, std::uint32_t weight, bool claimed) {
    return state_.inside.emplace_back(
        Inside{visitor, claimed, weight, 0, state_.last_fence, kNoSlot});
  }

  void serve_line() {
    while (!state_.line.empty() && fits(state_.line.front().weight)) {
      let_in(state_.line.front().visitor, state_.line.front().weight, false);
      state_.line.erase(state_.line.begin());
    }
  }

  bool erase_inside(bool claimed) {
    const auto found = inside();
    if (found == state_.inside.end() || found->claimed != claimed) return false;
    state_.inside.erase(found);
    serve_line();
    return true;
  }
  bool erase_from_line() {
    const auto found = waiting();
    if (found == state_.line.end()) return false;
    state_.line.erase(found);
    serve_line();
    return true;
  }

  const std::uint32_t limit_;
  State& state_;
  const Operation& operation_;
};

}  // namespace

std::vector<State> GateModel::after(State state, const Operation& operation,
                                    const Span& /*span*/) const {
  if (!Step(limit, state, operation).is_right()) return {};
  return {std::move(state)};
}

}  // namespace airlock::lincheck

#pragma once

#include <cstdint>
#include <initializer_list>

#include "lincheck/support/history.hpp"

// Histories made by hand.
//
//   in_order({ask(0).granted(7, 0), ask(1).refused(), release(0, 7).yes()})
//
// A client is its own visitor unless said otherwise.

namespace airlock::lincheck {

struct Act : Operation {
  Act granted(std::uint64_t its_fence, std::uint32_t slot = kNoSlot) const {
    Act act = answered(Result::granted, slot);
    act.fence = its_fence;
    return act;
  }
  Act repeated(std::uint64_t its_fence, std::uint32_t slot = kNoSlot) const {
    Act act = granted(its_fence, slot);
    act.result = Result::repeated;
    return act;
  }
  Act granted() const { return granted(0); }
  Act queued(std::uint32_t position) const { return answered(Result::queued, position); }
  Act refused() const { return answered(Result::refused, 0); }
  Act yes() const { return answered(Result::yes, 0); }
  Act no() const { return answered(Result::no, 0); }
  Act sees(std::uint32_t in_use) const { return answered(Result::seen, in_use); }
  Act noticed() const { return answered(Result::yes, 0); }

  Act as(std::uint8_t other) const {
    Act act = *this;
    act.visitor = other;
    return act;
  }
  // At other times than in_order() gives it.
  Act from(Time start, Time end) const {
    Act act = *this;
    act.called = start;
    act.returned = end;
    return act;
  }

 private:
  Act answered(Result answer, std::uint32_t what) const {
    Act act = *this;
    act.result = answer;
    act.number = what;
    act.returned = 0;  // Some time.
    return act;
  }
};

inline Act act(Kind kind, std::uint8_t client, std::uint32_t weight = 1, std::uint64_t fence = 0) {
  Act act;
  act.kind = kind;
  act.client = act.visitor = client;
  act.weight = weight;
  act.fence = fence;
  return act;
}
inline Act ask(std::uint8_t client, std::uint32_t weight = 1) {
  return act(Kind::ask, client, weight);
}
inline Act join(std::uint8_t client, std::uint32_t weight = 1) {
  return act(Kind::join, client, weight);
}
inline Act leave(std::uint8_t client) { return act(Kind::leave, client); }
inline Act release(std::uint8_t client, std::uint64_t fence) {
  return act(Kind::release, client, 1, fence);
}
inline Act renew(std::uint8_t client, std::uint64_t fence) {
  return act(Kind::renew, client, 1, fence);
}
inline Act look(std::uint8_t client) { return act(Kind::look, client); }
inline Act take(std::uint8_t client, std::uint32_t cost = 1) {
  return act(Kind::take, client, cost);
}
inline Act death(std::uint8_t client) { return act(Kind::death, client); }

// One after the other: the n-th is called at 10 n and answered, if it is, at 10 n + 5.
inline History in_order(std::initializer_list<Act> acts) {
  History history;
  Time time = 0;
  for (Act act : acts) {
    time += 10;
    if (act.called == 0) {
      act.called = time;
      if (act.is_answered()) act.returned = time + 5;
    }
    history.push_back(act);
  }
  return history;
}

}  // namespace airlock::lincheck

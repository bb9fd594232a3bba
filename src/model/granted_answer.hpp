#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "airlock/outcome.hpp"
#include "airlock/request.hpp"

namespace airlock::model {
namespace granted_answer_detail {

// Makes a value where it is to be, without a copy on the way.
template <typename Make>
struct InPlace {
  explicit InPlace(Make how) : make(how) {}
  Make make;
  // NOLINTNEXTLINE(google-explicit-constructor): the conversion is the purpose
  operator std::invoke_result_t<Make>() const { return make(); }
};

}  // namespace granted_answer_detail

// The answer to a request that is granted. Field by field: a copy in wide words of what was just
// written in narrow ones waits for them.
[[nodiscard]] inline Answer granted_answer(StoreId store, const Request& request, Fence fence,
                                           std::uint64_t place, std::uint32_t taken,
                                           const RateInfo& rate) {
  Answer answer(std::in_place_type<Granted>, granted_answer_detail::InPlace{[&] {
                  return Granted{.token = {store, request.gate, request.visitor, fence, place}};
                }});
  Granted& granted = *std::get_if<Granted>(&answer);
  granted.taken = taken;
  granted.rate.limit = rate.limit;
  granted.rate.remaining = rate.remaining;
  granted.rate.retry_after = rate.retry_after;
  granted.rate.reset_after = rate.reset_after;
  return answer;
}

}  // namespace airlock::model

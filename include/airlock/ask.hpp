#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>

namespace airlock {

// How one caller wants in; everything has a default.
//
//   erp.try_call_for(request.time_left(), {.stop = stop}, work);
struct Ask {
  std::uint32_t weight = 1;     // How much of the limit it uses.
  std::uint16_t priority = 0;   // Order::priority only.
  std::string_view label = {};  // What operators see. Empty: `host:pid comm`.
  std::uint32_t cost = 1;       // What the rates are charged.
  std::stop_token stop = {};    // Leaves the line when it fires. Two: either().
};

// A stop token that fires when either of two does.
//
//   auto page = erp.try_call({.stop = either(request.stop, shutdown)}, fetch);
//
// It listens as long as it lives: to the end of the call above. For a wait that goes on after the
// call that began it, as in join() and enter_async(), keep it in a variable until then.
class [[nodiscard]] Either {
 public:
  Either(const std::stop_token& a, const std::stop_token& b)
      : on_a_(a, Pass{source_}), on_b_(b, Pass{source_}) {}
  Either(const Either&) = delete;
  Either& operator=(const Either&) = delete;
  ~Either() = default;

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
  // NOLINTNEXTLINE(google-explicit-constructor): it is a token, with a lifetime
  operator std::stop_token() const noexcept { return token(); }

 private:
  struct Pass {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Pass> on_a_;
  std::stop_callback<Pass> on_b_;
};

inline Either either(const std::stop_token& a, const std::stop_token& b) { return {a, b}; }

}  // namespace airlock

#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "airlock/lease.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "config/gate_rules.hpp"

namespace airlock::server {

// What a caller of admit asks for.
struct AdmitCall {
  GateName gate;
  VisitorId visitor;
  std::string name = {};  // Of the visitor; empty: it has none, and is known to this call alone.
  std::string label = {};
  std::optional<airlock::Permits> permits = {};
  std::vector<Rate> rates = {};
  std::uint32_t cost = 1;
  Line line = {};
  Hold hold = Hold::detached;
  Duration wait{0};
  bool is_stream = false;

  // Refers to the call.
  [[nodiscard]] airlock::Request request() const;
};

// `limit`, `weight` and `ttl` of a caller; what it leaves out is as the rule says, which may be null. Nothing without a limit.
[[nodiscard]] std::optional<airlock::Permits> read_permits(Fields& fields, const GateRule* rule);

// A caller that waits, or whose lease lives as long as its connection. Asks the store, watches its place and asks again
// until it is decided, the time is up or the client is gone. Lives on the loop of its connection.
//
// A client that goes away gives up its place, or what it was granted meanwhile. A named visitor that does not stream keeps
// both: it may ask again. A client that reads "refused" has no place: the store has confirmed that before.
class Visit final : public std::enable_shared_from_this<Visit> {
 public:
  static void start(Api& api, const ExchangePtr& exchange, AdmitCall call);

  Visit(Api& api, const ExchangePtr& exchange, AdmitCall call);

 private:
  using Clock = std::chrono::steady_clock;

  // What one question has come to.
  struct Step {
    std::optional<Answer> answer = {};
    Lease lease = {};  // Of a stream that was granted.
    std::exception_ptr failure = {};
    bool is_watched = false;
  };
  enum class State : std::uint8_t { idle, asking, holding, leaving, over };

  void ask();
  void ask_store(Step& step, const std::function<void()>& changed);
  void take_in(const std::shared_ptr<Step>& step);
  void take_back(Step& step);
  void take_granted(const Granted& granted, Step& step);
  void take_queued(const Queued& queued, bool is_watched);
  void take_failure(const std::exception_ptr& failure);
  void expire(const Queued& queued);
  void ask_after(Duration delay);
  void show_position(const Queued& queued);
  void on_lost();
  void on_end(Exchange::End end);
  void refuse(const Refused& refused);
  void depart();  // Leaves after the end; a client that is still there is answered then.
  void say_draining(const char* event);

  // Gives up the place in the line, or the slot that was handed over and not claimed. `then` is called on the loop when that
  // is done or has failed.
  void leave(std::function<void(const std::exception_ptr& failure)> then);
  void finish(Response response);

  [[nodiscard]] Duration waited() const;
  [[nodiscard]] Duration time_left() const;
  [[nodiscard]] bool keeps_place() const noexcept {
    return !call_.name.empty() && !call_.is_stream;
  }

  Api& api_;
  const ExchangePtr exchange_;
  Loop& loop_;
  const AdmitCall call_;
  const Clock::time_point began_ = Clock::now();
  boost::asio::steady_timer timer_;
  State state_ = State::idle;
  bool has_news_ = false;
  bool has_place_ = false;
  bool is_streaming_ = false;
  bool is_draining_ = false;
  std::uint32_t shown_position_ = 0;
  Lease lease_;
  std::optional<std::stop_callback<std::function<void()>>> on_lost_;
};

}  // namespace airlock::server

#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/exchange.hpp"
#include "room/standing.hpp"

namespace airlock::server {

// The open page of a visitor: gets it a place, shows where it stands, and says when it is its turn. Lives on the loop of its
// connection.
//
// It may last for hours, so a reload counts for it, too: those who wait are let in by one limit.
//
// The place is bound to this server. When the page closes, the line passes it over until the visitor returns, within its
// patience.
class RoomStream final : public std::enable_shared_from_this<RoomStream> {
 public:
  using Clock = std::chrono::steady_clock;

  static void start(Api& api, const ExchangePtr& exchange, RoomCall call);

  RoomStream(Api& api, const ExchangePtr& exchange, RoomCall call);

  [[nodiscard]] const RoomCall& call() const noexcept { return call_; }

  // Whether the line should be looked at for it. Asks the store itself where its place would lose patience.
  [[nodiscard]] bool is_due(Clock::time_point now);
  void on_view(const LineView& view, Clock::time_point now);

 private:
  enum class State : std::uint8_t { idle, asking, over };
  struct Step {
    std::optional<Standing> standing = {};
    bool is_watched = false;
  };
  // What a page shows of a standing.
  struct Seen {
    std::optional<Standing::State> state = {};
    std::uint32_t position = 0;
    int percent = 0;
    bool has_wait = false;
    std::int64_t low = 0;  // Minutes.
    std::int64_t high = 0;

    friend bool operator==(const Seen&, const Seen&) = default;
  };

  void ask();
  void ask_store(Step& step, const std::function<void()>& changed);
  void take_in(const Step& step);
  bool show(const Standing& standing);  // Whether the page did not show that already.
  void on_end(Exchange::End end);
  void step_aside();
  void finish();
  [[nodiscard]] Duration retry_after(const Standing& standing) const;

  static constexpr std::chrono::seconds kClaimWindow{2};
  static constexpr std::chrono::seconds kToArrive{30};  // From the turn to the request that enters.
  static constexpr std::chrono::seconds kRetry{2};
  static constexpr std::chrono::milliseconds kMinInterval{900};    // Rounds are a second apart.
  static constexpr std::chrono::milliseconds kMaxInterval{5'000};  // While nothing changes.
  static constexpr int kPushes = 20;                               // In an expected wait, at most.

  Api& api_;
  const ExchangePtr exchange_;
  Loop& loop_;
  RoomCall call_;  // Changed while no question is on its way.
  State state_ = State::idle;
  bool has_news_ = false;
  Clock::time_point next_ask_{};
  Clock::time_point next_push_{};
  std::chrono::milliseconds interval_ = kMinInterval;
  Seen seen_;
};

}  // namespace airlock::server

#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace airlock::server {

class Loop;
struct Peer;
struct Request;

// The call of the server that answers a request, for metrics: static texts, so that their number is bounded.
struct RouteName {
  std::string_view method = {};
  std::string_view path = "none";  // No call: framing errors, unknown paths and methods.

  auto operator<=>(const RouteName&) const = default;
};

// Counts something as long as it lives.
class Counted {
 public:
  Counted() noexcept = default;
  explicit Counted(std::atomic<std::size_t>& count) noexcept : count_(&count) { ++count; }
  Counted(Counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Counted& operator=(Counted&& other) noexcept {
    std::swap(count_, other.count_);
    return *this;
  }
  ~Counted() {
    if (count_ != nullptr) --*count_;
  }

 private:
  std::atomic<std::size_t>* count_ = nullptr;
};

// What is noted about one request, from its first byte to its answer. Handlers name the route.
struct RequestTrace {
  using Clock = std::chrono::steady_clock;

  RouteName route = {};
  std::string failure = {};    // What went wrong in the server or the store, for the error log.
  bool is_identified = false;  // Whose principal it is was found out.
  bool is_stream = false;
  std::size_t bytes = 0;  // Sent so far.
  Clock::time_point began = Clock::now();
  Counted counted = {};                                     // As a call that waits, or as a stream.
  std::optional<boost::asio::ip::address> client = {};      // Once it is known: client_address.hpp.
  std::array<std::shared_ptr<const void>, 2> tickets = {};  // Of address_caps.hpp.
};

// The status of requests whose client went away before they were answered.
inline constexpr int kClientGone = 499;

// A request has ended: counts and logs it. `request` is null where its head could not be read.
void note_request(Loop& loop, const RequestTrace& trace, const Peer& peer, const Request* request,
                  int status);

}  // namespace airlock::server

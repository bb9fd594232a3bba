#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace airlock::server {
class Loop;
struct Peer;
}  // namespace airlock::server

namespace airlock::server::grpc {

using TimePoint = std::chrono::steady_clock::time_point;

// The numbers are those of gRPC.
enum class Status : std::uint8_t {
  ok = 0,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  permission_denied = 7,
  resource_exhausted = 8,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  unauthenticated = 16,
};

// What a client has asked: one message.
struct CallRequest {
  std::string path = {};                  // /package.Service/Method
  std::string authorization = {};         // The field of that name.
  std::string message = {};               // Without its prefix.
  TimePoint deadline = TimePoint::max();  // From grpc-timeout.
};

// One call. Handlers get it on the loop of its connection, use it there alone and finish it once. What is sent to a client
// that has gone is lost.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  [[nodiscard]] virtual const CallRequest& request() const = 0;
  [[nodiscard]] virtual const Peer& peer() const = 0;
  [[nodiscard]] virtual Loop& loop() = 0;

  virtual void send(std::string_view message) = 0;
  virtual void finish(Status status, std::string_view text = {}) = 0;

  // The call stays open. `drained` is called once when the server ends, unless the client goes away before.
  virtual void on_drain(std::function<void()> drained) = 0;
};

using CallPtr = std::shared_ptr<Call>;
using Handler = std::function<void(const CallPtr&)>;

}  // namespace airlock::server::grpc

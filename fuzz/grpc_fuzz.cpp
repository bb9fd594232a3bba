#include <string>
#include <vector>

#include "fuzz.hpp"
#include "grpc/message.hpp"
#include "grpc/session.hpp"

namespace {

using airlock::fuzz::require;
using airlock::server::grpc::CallRequest;
using airlock::server::grpc::kMaxMessage;
using airlock::server::grpc::Session;
using airlock::server::grpc::Status;
using airlock::server::grpc::TimePoint;

// Answers some calls at once and some later.
class Observer final : public Session::Observer {
 public:
  Session* session = nullptr;
  std::vector<std::int32_t> open = {};

  void on_call(std::int32_t stream, CallRequest request) override {
    require(request.message.size() <= kMaxMessage);
    if (request.message.size() % 2 == 1) {
      open.push_back(stream);
      return;
    }
    session->send(stream, request.message);
    session->finish(stream, Status::ok);
  }
  void on_close(std::int32_t /*stream*/) override {}
};

}  // namespace

// Any bytes behind the preface are answered or end the session, in whatever pieces they come.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  airlock::fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.byte();
  TimePoint now{};
  Observer observer;
  Session session(observer, now);
  observer.session = &session;
  std::string out;
  session.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", now);
  while (!input.is_empty()) {
    now += std::chrono::milliseconds(1);
    session.read(input.bytes(piece), now);
    for (const std::int32_t stream : observer.open)
      session.finish(stream, Status::unavailable, "%\n");
    observer.open.clear();
    out.clear();
    session.write(out, 1U << 20);
    require(out.size() < (1U << 21));
  }
  session.tick(now + Session::kRequest + std::chrono::seconds(1));
  session.shut_down();
  session.write(out, 1U << 22);
  return 0;
}

#include "store/redis/inquiry.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/thread.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

struct Inquiry {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t pending = 0;
  std::vector<Answered> answers;
  Failure failure{.text = "redis: no server answers in time"};
  std::function<void(const std::vector<Reply>&)> check;

  void ask(const Address& server, const std::vector<Commands>& commands, const Deadline& deadline) {
    Answered answered{.by = server, .replies = {}};
    std::optional<Failure> why;
    try {
      std::optional<TlsContext> tls;
      if (server.tls) tls.emplace(server);
      Connection connection(server, tls ? &*tls : nullptr, "airlock", deadline);
      std::string bytes;
      for (const Commands& command : commands) bytes += command.bytes();
      connection.send(bytes, deadline, commands.size());
      for (std::size_t i = 0; i < commands.size(); ++i) {
        answered.replies.push_back(connection.read(deadline));
        const Reply& reply = answered.replies.back();
        if (reply.is_error()) throw refusal_of(reply.text());
      }
      if (check) check(answered.replies);
    } catch (const StoreError& error) {
      why = Failure::of(at(server.text(), error));
      why->outcome = Outcome::nothing_happened;
    } catch (const std::exception& error) {  // No memory: nobody would catch it here.
      why = {StoreError::Kind::no_room, Outcome::nothing_happened, error.what()};
    }
    const std::lock_guard lock(mutex);
    --pending;
    if (!why) {
      answers.push_back(std::move(answered));
    } else if (failure.kind != StoreError::Kind::incompatible) {
      failure = std::move(*why);
    }
    changed.notify_all();
  }
};

}  // namespace

std::vector<Answered> ask_all(const std::vector<Address>& servers,
                              const std::vector<Commands>& commands, const AskOptions& options,
                              const Deadline& deadline) {
  const auto inquiry = std::make_shared<Inquiry>();
  inquiry->check = options.check;
  inquiry->pending = servers.size();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    try {
      base::start_thread("airlock-inquiry", [inquiry, server = servers[i], commands, deadline] {
        inquiry->ask(server, commands, deadline);
      }).detach();
    } catch (const StoreError& error) {  // The others may do without it.
      const std::lock_guard lock(inquiry->mutex);
      --inquiry->pending;
      inquiry->failure = Failure::of(error);
    }
  }
  std::unique_lock lock(inquiry->mutex);
  const auto any = [&] { return inquiry->pending == 0 || !inquiry->answers.empty(); };
  const auto all = [&] { return inquiry->pending == 0; };
  inquiry->changed.wait_until(lock, deadline.at(), any);
  inquiry->changed.wait_until(lock, deadline.sooner(options.grace).at(), all);
  if (inquiry->answers.empty()) throw StoreError(inquiry->failure.error());
  return std::move(inquiry->answers);
}

}  // namespace airlock::redis

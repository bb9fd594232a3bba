#include "store/redis/inquiry.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "store/redis/failure.hpp"
#include "store/redis/thread.hpp"

namespace airlock::redis {
namespace {

struct Inquiry {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t pending = 0;
  std::vector<Answered> answers;
  std::string failure = "no server answers in time";

  void ask(const Address& server, const Commands& commands, const Deadline& deadline) {
    std::optional<Reply> reply;
    std::string why;
    try {
      std::optional<TlsContext> tls;
      if (server.tls) tls.emplace(server);
      Connection connection(server, tls ? &*tls : nullptr, "airlock", deadline);
      reply = connection.ask(commands, deadline);
      if (reply->is_error()) throw refusal_of(reply->text());
    } catch (const Error& error) {
      reply.reset();
      why = server.text() + ": " + error.what();
    }
    const std::lock_guard lock(mutex);
    --pending;
    if (reply) {
      answers.push_back({server, std::move(*reply)});
    } else {
      failure = std::move(why);
    }
    changed.notify_all();
  }
};

}  // namespace

std::vector<Answered> ask_all(const std::vector<Address>& servers, const Commands& commands,
                              Duration grace, const Deadline& deadline) {
  const auto inquiry = std::make_shared<Inquiry>();
  inquiry->pending = servers.size();
  for (const Address& server : servers) {
    start_thread("airlock-inquiry", [inquiry, server, commands, deadline] {
      inquiry->ask(server, commands, deadline);
    }).detach();
  }
  std::unique_lock lock(inquiry->mutex);
  const auto any = [&] { return inquiry->pending == 0 || !inquiry->answers.empty(); };
  const auto all = [&] { return inquiry->pending == 0; };
  inquiry->changed.wait_until(lock, deadline.at(), any);
  inquiry->changed.wait_until(lock, deadline.sooner(grace).at(), all);
  if (inquiry->answers.empty()) throw unavailable(inquiry->failure);
  return std::move(inquiry->answers);
}

}  // namespace airlock::redis

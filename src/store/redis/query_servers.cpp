#include "store/redis/query_servers.hpp"

#include <condition_variable>
#include <memory>
#include <optional>
#include <utility>

#include "base/locks.hpp"
#include "base/thread.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

struct Query {
  Query(std::size_t servers, std::function<void(const std::vector<Reply>&)> its_check)
      : pending(servers), check(std::move(its_check)) {}

  base::StdMutex mutex;
  std::condition_variable changed;
  std::size_t pending AIRLOCK_GUARDED_BY(mutex);
  std::vector<Answered> answers AIRLOCK_GUARDED_BY(mutex);
  Failure failure AIRLOCK_GUARDED_BY(mutex){.text = "redis: no server answers in time"};
  const std::function<void(const std::vector<Reply>&)> check;

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
    const base::LockGuard lock(mutex);
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

std::vector<Answered> query_servers(const std::vector<Address>& servers,
                                    const std::vector<Commands>& commands,
                                    const QueryOptions& options, const Deadline& deadline) {
  const auto query = std::make_shared<Query>(servers.size(), options.check);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    try {
      base::start_thread("airlock-query", [query, server = servers[i], commands, deadline] {
        query->ask(server, commands, deadline);
      }).detach();
    } catch (const StoreError& error) {  // The others may do without it.
      const base::LockGuard lock(query->mutex);
      --query->pending;
      query->failure = Failure::of(error);
    }
  }
  base::UniqueLock lock(query->mutex);
  const auto any = [&]() AIRLOCK_REQUIRES(query->mutex) {
    return query->pending == 0 || !query->answers.empty();
  };
  const auto all = [&]() AIRLOCK_REQUIRES(query->mutex) { return query->pending == 0; };
  query->changed.wait_until(lock, deadline.at(), any);
  query->changed.wait_until(lock, deadline.sooner(options.grace).at(), all);
  if (query->answers.empty()) throw StoreError(query->failure.error());
  return std::move(query->answers);
}

}  // namespace airlock::redis

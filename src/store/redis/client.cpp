#include "store/redis/client.hpp"

#include "base/hex.hpp"
#include "base/label.hpp"
#include "base/random.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

bool is_unknown_script(const Reply& reply) {
  return reply.is_error() && reply.text().starts_with("NOSCRIPT");
}

// CLIENT SETNAME takes no spaces.
std::string connection_name() {
  std::string name = "airlock:";
  for (const char c : base::default_label()) name += c > ' ' && c <= '~' ? c : '_';
  return name;
}

// A connection that broke may have been closed long ago; a server that refuses has answered.
bool is_worth_repeating(const StoreError& error, Client::Twice twice, const Deadline& deadline) {
  return error.kind() == StoreError::Kind::unavailable && !deadline.is_over() &&
         (twice == Client::Twice::harmless || error.outcome() == Outcome::nothing_happened);
}

std::string new_channel(const std::string& prefix) {
  return prefix + ":wake:" + std::to_string(base::random64());
}

}  // namespace

Client::Client(const Address& address, std::uint32_t connections, const std::string& prefix,
               Duration timeout)
    : pool(address, connections, connection_name()),
      subscription(pool, new_channel(prefix), timeout) {}

// A server that is the wrong one, or not ready, may be another when it is connected to again.
void Client::check(const Reply& reply) {
  if (!reply.is_error()) return;
  const StoreError error = refusal_of(reply.text());
  if (error.kind() == StoreError::Kind::unavailable) pool.drop_idle();
  throw StoreError(error);
}

Client::Ran Client::run(const Call& call, Twice twice, const Deadline& deadline) {
  bool perhaps_twice = false;
  {
    Pool::Lent connection = pool.take(deadline);
    try {
      return {std::move(run_on(*connection, {&call, 1}, deadline).front())};
    } catch (const StoreError& error) {
      perhaps_twice = error.outcome() == Outcome::unknown;
      if (!is_worth_repeating(error, twice, deadline)) throw;
    }
  }
  Pool::Lent connection = pool.take(deadline);
  return {std::move(run_on(*connection, {&call, 1}, deadline).front()), perhaps_twice};
}

std::vector<Reply> Client::run(std::span<const Call> calls, const Deadline& deadline) {
  {
    Pool::Lent connection = pool.take(deadline);
    try {
      return run_on(*connection, calls, deadline);
    } catch (const StoreError& error) {
      if (!is_worth_repeating(error, Twice::harmless, deadline)) throw;
    }
  }
  Pool::Lent connection = pool.take(deadline);
  return run_on(*connection, calls, deadline);
}

std::vector<Reply> Client::run_on(Connection& connection, std::span<const Call> calls,
                                  const Deadline& deadline) {
  std::string bytes;
  for (const Call& call : calls) call.append_to(bytes, Call::By::sha1);
  std::vector<Reply> replies;
  replies.reserve(calls.size());
  connection.send(bytes, deadline, calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) replies.push_back(connection.read(deadline));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (is_unknown_script(replies[i])) replies[i] = run_text(connection, calls[i], deadline);
    check(replies[i]);
  }
  return replies;
}

Reply Client::run_text(Connection& connection, const Call& call, const Deadline& deadline) {
  std::string bytes;
  call.append_to(bytes, Call::By::text);
  connection.send(bytes, deadline);
  return connection.read(deadline);
}

Reply Client::ask(const Commands& commands, const Deadline& deadline) {
  Reply reply = pool.take(deadline)->ask(commands, deadline);
  check(reply);
  return reply;
}

}  // namespace airlock::redis

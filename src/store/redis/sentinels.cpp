#include "store/redis/sentinels.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "store/redis/failure.hpp"
#include "store/redis/query_servers.hpp"

namespace airlock::redis {
namespace {

// Of the time there is: how much is for asking the sentinels, so that it is enough for another attempt;
// how long the first one waits for the others; how long one may take that is to tell of changes.
constexpr int kAsking = 2;
constexpr int kGrace = 20;
constexpr int kListening = 10;
constexpr std::string_view kChannel = "+switch-master";

Duration part_of(const Deadline& deadline, int divisor) {
  return std::chrono::duration_cast<Duration>(deadline.left() / divisor);
}

template <typename Number>
Number number_of(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// SENTINEL MASTER answers with names and values in turn.
std::map<std::string_view, std::string_view> fields_of(const Reply& reply) {
  std::map<std::string_view, std::string_view> fields;
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    fields[reply.at(i).text()] = reply.at(i + 1).text();
  }
  return fields;
}

}  // namespace

Sentinels::Sentinels(std::vector<Address> sentinels, std::string master, Address server)
    : sentinels_(std::move(sentinels)), master_(std::move(master)), server_(std::move(server)) {}

Address Sentinels::locate(const Deadline& deadline) const try {
  // The first tells of which failover it knows. During one it still has the old address; the second
  // has the new one as soon as that is a primary.
  std::vector<Commands> commands(2);
  commands[0].add_all({"SENTINEL", "MASTER", master_});
  commands[1].add_all({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_});
  std::optional<std::uint64_t> newest;
  Address found = server_;
  for (const Answered& answer :
       query_servers(sentinels_, commands, {.grace = part_of(deadline, kGrace)},
                     deadline.sooner(part_of(deadline, kAsking)))) {
    auto fields = fields_of(answer.replies[0]);
    const auto epoch = number_of<std::uint64_t>(fields["config-epoch"]);
    const auto port = number_of<std::uint16_t>(answer.replies[1].at(1).text());
    if (port == 0 || (newest && epoch <= *newest)) continue;
    newest = epoch;
    found.host = answer.replies[1].at(0).text();
    found.port = port;
  }
  if (!newest) throw unavailable("no sentinel knows its address");
  return found;
} catch (const StoreError& error) {
  throw StoreError(error.kind(), Outcome::nothing_happened,
                   "redis: the primary of " + master_ + " is not found: " + text_of(error));
}

std::unique_ptr<Connection> Sentinels::listen(const Deadline& deadline) const {
  Commands commands;
  commands.add_all({"SUBSCRIBE", kChannel});
  std::string failure;
  const Duration limit = part_of(deadline, kListening);
  for (const Address& sentinel : sentinels_) {
    try {
      std::optional<TlsContext> tls;
      if (sentinel.tls) tls.emplace(sentinel);
      auto connection = std::make_unique<Connection>(sentinel, tls ? &*tls : nullptr, "airlock",
                                                     deadline.sooner(limit));
      const Reply confirmed = connection->ask(commands, deadline.sooner(limit));
      if (!confirmed.is_error()) return connection;
      failure = text_of(at(sentinel.text(), refusal_of(confirmed.text())));
    } catch (const StoreError& error) {
      failure = text_of(error);
    }
  }
  throw unavailable(failure);
}

// message, channel, `name old-ip old-port new-ip new-port`
bool Sentinels::is_change(const Reply& message) const {
  return message.size() == 3 && message.at(1).text() == kChannel &&
         message.at(2).text().starts_with(master_ + " ");
}

}  // namespace airlock::redis

#include "store/redis/connection.hpp"

#include <charconv>
#include <utility>

#include "store/redis/failure.hpp"
#include "store/redis/info.hpp"

namespace airlock::redis {
namespace {

void append_size(std::string& to, char mark, std::size_t size) {
  std::array<char, 24> text;
  text[0] = mark;
  char* const end = std::to_chars(text.data() + 1, text.data() + text.size() - 2, size).ptr;
  end[0] = '\r';
  end[1] = '\n';
  to.append(text.data(), static_cast<std::size_t>(end - text.data()) + 2);
}

void throw_if_refused(const Reply& reply) {
  if (reply.is_error()) throw refusal_of(reply.text());
}

// What is only for people, or for their safety: a user may lack the right to it.
bool may_go_on_without(const Reply& reply) {
  return reply.is_error() &&
         (reply.text().starts_with("NOPERM") ||
          refusal_of(reply.text()).outcome() == Outcome::unknown);  // An unknown command.
}

// An evicted key is an admission that everybody has forgotten but its holder. Empty: nothing is evicted.
std::string_view eviction_policy(std::string_view info) {
  const std::string_view most = info_value(info, "maxmemory");
  const std::string_view policy = info_value(info, "maxmemory_policy");
  return most.empty() || most == "0" || policy == "noeviction" ? std::string_view() : policy;
}

void check_eviction(std::string_view info) {
  const std::string policy(eviction_policy(info));
  if (policy.empty()) return;
  throw StoreError(StoreError::Kind::incompatible, Outcome::nothing_happened,
                   "redis: the server may evict what is admitted (maxmemory-policy " + policy +
                       "); use noeviction, or allow_eviction=1");
}

void check_role(const Reply& role, const Address& address) {
  throw_if_refused(role);
  if (role.at(0).text() == "master") return;
  throw unavailable(address.text() + " is not a primary");
}

}  // namespace

void Commands::begin(std::size_t arguments) { append_size(bytes_, '*', arguments); }

Commands& Commands::add(std::string_view argument) {
  append_size(bytes_, '$', argument.size());
  bytes_.append(argument).append("\r\n");
  return *this;
}

void Commands::add_all(std::initializer_list<std::string_view> command) {
  begin(command.size());
  for (const std::string_view argument : command) add(argument);
}

Connection::Connection(const Address& address, const TlsContext* tls, std::string_view name,
                       const Deadline& deadline) try
    : host_(address.host),
      where_(address.text()),
      socket_(address, deadline),
      eviction_check_(address.eviction_check) {
  if (tls != nullptr) {
    tls_.emplace(*tls, address.host);
    shake_hands(deadline);
  }
  introduce(address, name, deadline);
} catch (const StoreError& error) {
  throw at(address.text(), StoreError(error.kind(), Outcome::nothing_happened, error.what()));
}

void Connection::shake_hands(const Deadline& deadline) {
  while (!tls_->shake_hands()) {
    write(tls_->take_output(), deadline);
    receive(deadline, "no TLS handshake in time");
  }
  write(tls_->take_output(), deadline);
  shaken_ = true;
}

// In one round trip.
void Connection::send_introduction(const Address& address, const std::string& password,
                                   std::string_view name, const Deadline& deadline) {
  Commands commands;
  std::size_t count = 2;
  if (!password.empty()) {
    ++count;
    if (address.user.empty()) {
      commands.add_all({"AUTH", password});
    } else {
      commands.add_all({"AUTH", address.user, password});
    }
  }
  if (address.db != 0) {
    ++count;
    commands.add_all({"SELECT", std::to_string(address.db)});
  }
  if (address.primary_only) {
    ++count;
    commands.add_all({"ROLE"});
  }
  commands.add_all({"INFO", "memory"});
  commands.add_all({"CLIENT", "SETNAME", name});
  send(commands.bytes(), deadline, count);
}

// A server that has no room for another client says so and closes the connection, perhaps before it has
// read anything.
Reply Connection::first_reply(const Deadline& deadline) {
  Reply reply = read(deadline);
  if (reply.is_error() && refusal_of(reply.text()).kind() == StoreError::Kind::no_room) {
    throw refusal_of(reply.text());
  }
  return reply;
}

void Connection::introduce(const Address& address, std::string_view name,
                           const Deadline& deadline) {
  const std::string password = address.secret ? address.secret->get() : address.password;
  try {
    send_introduction(address, password, name, deadline);
  } catch (const StoreError&) {
    (void)first_reply(deadline);
    throw;
  }
  Reply reply = first_reply(deadline);
  if (!password.empty()) {
    if (reply.is_error() && address.secret && address.secret->reread(password)) {
      while (awaited_ != 0) (void)read(deadline);
      return introduce(address, name, deadline);
    }
    throw_if_refused(reply);
    reply = read(deadline);
  }
  if (address.db != 0) {
    throw_if_refused(reply);
    reply = read(deadline);
  }
  if (address.primary_only) {
    check_role(reply, address);
    reply = read(deadline);
  }
  if (!may_go_on_without(reply)) throw_if_refused(reply);
  if (!address.allow_eviction) {
    check_eviction(reply.text());
    if (!reply.is_error()) next_check_ = Deadline::Clock::now() + eviction_check_;
  }
  const Reply named = read(deadline);
  if (!may_go_on_without(named)) throw_if_refused(named);
}

void Connection::note_memory(const Reply& info) noexcept {
  next_check_ = Deadline::Clock::now() + eviction_check_;
  may_evict_ = !eviction_policy(info.text()).empty();
}

void Connection::send(const std::string& bytes, const Deadline& deadline, std::size_t replies) {
  broken_ = true;
  awaited_ += replies;
  write(to_wire(bytes), deadline);
  broken_ = false;
}

std::string Connection::to_wire(std::string bytes) {
  if (!tls_) return bytes;
  tls_->encrypt(bytes);
  return tls_->take_output();
}

void Connection::write(std::string_view bytes, const Deadline& deadline) {
  const std::size_t size = bytes.size();
  const auto outcome = [&] {
    return bytes.size() == size ? Outcome::nothing_happened : Outcome::unknown;
  };
  while (!bytes.empty()) {
    try {
      bytes.remove_prefix(socket_.write_some(bytes));
    } catch (const StoreError& error) {
      throw at(where_, StoreError(error.kind(), outcome(), error.what()));
    }
    if (bytes.empty()) return;
    if (!socket_.wait_to_write(deadline)) {
      throw at(where_, unavailable("the server does not read in time", outcome()));
    }
  }
}

void Connection::receive() {
  Buffer buffer;
  take_in(buffer, socket_.read_some(buffer));
}

void Connection::receive(const Deadline& deadline, const char* nothing) {
  Buffer buffer;
  const std::size_t got = socket_.read_by(deadline, buffer);
  if (got == 0) throw unavailable(nothing);
  take_in(buffer, got);
}

void Connection::take_in(Buffer& buffer, std::size_t got) {
  if (tls_) {
    tls_->feed({buffer.data(), got});
    while (shaken_ && (got = tls_->decrypt(buffer)) != 0) reader_.feed({buffer.data(), got});
  } else if (got != 0) {
    reader_.feed({buffer.data(), got});
  }
}

std::optional<Reply> Connection::next() {
  Reply reply;
  return reader_.next(reply) ? std::optional(std::move(reply)) : std::nullopt;
}

Reply Connection::read(const Deadline& deadline) try {
  broken_ = true;
  for (;;) {
    if (std::optional<Reply> reply = next()) {
      broken_ = false;
      --awaited_;
      return std::move(*reply);
    }
    receive(deadline, "no reply in time");
  }
} catch (const StoreError& error) {
  throw at(where_, unknown(error));
}

}  // namespace airlock::redis

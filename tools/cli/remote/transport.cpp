#include "transport.hpp"

#include "airlock/error.hpp"

// Connections and TLS are those of the Redis store, which loads OpenSSL when it is first needed.
#ifdef AIRLOCK_REMOTE
#include <array>
#include <optional>

#include "store/redis/failure.hpp"
#include "store/redis/socket.hpp"
#include "store/redis/tls.hpp"
#endif

namespace airlock::cli {

#ifdef AIRLOCK_REMOTE

namespace {

redis::Address address_of(const ServerUrl& url, const std::string& ca) {
  redis::Address address;
  address.path = url.socket;
  address.host = url.host;
  address.port = url.port;
  address.tls = url.tls;
  address.ca = ca;
  address.timeout = url.timeout;
  return address;
}

}  // namespace

struct Transport::Connection {
  explicit Connection(const redis::Address& address)
      : deadline(address.timeout), socket(address, deadline) {
    if (!address.tls) return;
    context.emplace(address);
    tls.emplace(*context, address.host);
    while (!tls->shake_hands()) {
      send(tls->take_output());
      tls->feed(receive());
    }
    send(tls->take_output());
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t sent = socket.write_some(bytes);
      bytes.remove_prefix(sent);
      if (sent == 0 && !socket.wait_to_write(deadline)) throw redis::too_late("no answer in time");
    }
  }

  std::string_view receive() {
    const std::size_t got = socket.read_by(deadline, network);
    if (got == 0) throw redis::too_late("no answer in time");
    return {network.data(), got};
  }

  std::string_view receive_plain() {
    while (true) {
      const std::size_t got = tls->decrypt(plain);
      if (got != 0) return {plain.data(), got};
      send(tls->take_output());
      tls->feed(receive());
    }
  }

  const redis::Deadline deadline;
  redis::Socket socket;
  std::optional<redis::TlsContext> context = {};
  std::optional<redis::Tls> tls = {};
  std::array<char, 16384> network{};
  std::array<char, 16384> plain{};
};

namespace {

// Its texts begin with the name of the store.
template <typename Work>
auto in_own_words(const Work& work) try {
  return work();
} catch (const StoreError& error) {
  throw StoreError(error.kind(), error.outcome(), redis::text_of(error));
}

}  // namespace

Transport::Transport(const ServerUrl& url, const std::string& ca)
    : connection_(in_own_words([&] { return std::make_unique<Connection>(address_of(url, ca)); })) {
}

void Transport::write(std::string_view bytes) {
  in_own_words([&] {
    if (!connection_->tls) return connection_->send(bytes);
    connection_->tls->encrypt(bytes);
    connection_->send(connection_->tls->take_output());
  });
}

std::string_view Transport::read() {
  return in_own_words(
      [&] { return connection_->tls ? connection_->receive_plain() : connection_->receive(); });
}

#else

struct Transport::Connection {};

Transport::Transport(const ServerUrl& /*url*/, const std::string& /*ca*/) {
  throw StoreError(StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
                   "this command was built without --server: with AIRLOCK_REDIS=OFF, or over a "
                   "shared library");
}

void Transport::write(std::string_view /*bytes*/) {}
std::string_view Transport::read() { return {}; }

#endif

Transport::~Transport() = default;

}  // namespace airlock::cli

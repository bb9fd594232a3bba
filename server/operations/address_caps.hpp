#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "operations/client_address.hpp"

namespace airlock::server {

class Exchange;
struct Shared;

// What one address may have at the same time: connections, or requests that a trusted proxy passes on; and calls that wait
// together with streams. IPv6 addresses count by /64. Unix sockets and loopback addresses are not counted. A cap refuses
// what is new; it never ends what is there. Any thread may call it.
class AddressCaps {
 public:
  enum class Kind : std::uint8_t { connections, places };

  static constexpr std::size_t kMaxConnections = 256;
  static constexpr std::size_t kMaxPlaces = 64;

  // Counts something until the last copy is gone.
  using Ticket = std::shared_ptr<const void>;

  // Nothing if the address has as many as it may have. The ticket of an address that is not counted is empty.
  [[nodiscard]] std::optional<Ticket> take(const std::optional<Address>& address, Kind kind);

  [[nodiscard]] std::uint64_t refused(Kind kind) const {
    return refused_.at(static_cast<std::size_t>(kind));
  }

 private:
  using Key = std::array<std::uint8_t, 16>;
  using Counts = std::array<std::size_t, 2>;

  void give_back(const Key& key, std::size_t kind);

  std::mutex mutex_;
  std::map<Key, Counts> counts_;  // Of addresses that have something.
  std::array<std::atomic<std::uint64_t>, 2> refused_ = {};
};

// Finds out whose request it is, and counts it for that address where a proxy passes it on. Rejection if the address has as
// many as it may have.
void count_request(Exchange& exchange);

// Counts a request that is about to wait, or to stream, until it has ended. To be called before it changes anything.
// Rejection if its address has as many as it may have.
void take_waiting_place(Exchange& exchange);

}  // namespace airlock::server

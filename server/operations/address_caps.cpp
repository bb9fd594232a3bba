#include "operations/address_caps.hpp"

#include <algorithm>
#include <string>

#include "api/fields.hpp"
#include "config/config.hpp"
#include "http/exchange.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

constexpr std::size_t kV6Prefix = 8;  // Bytes: what one subscriber has.

std::array<std::uint8_t, 16> key_of(const Address& address) {
  if (address.is_v4())
    return boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, address.to_v4()).to_bytes();
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + kV6Prefix, bytes.end(), std::uint8_t{0});
  return bytes;
}

AddressCaps::Ticket take(Exchange& exchange, AddressCaps::Kind kind, std::size_t most,
                         const char* what) {
  auto ticket = exchange.loop().shared().operations.caps.take(exchange.trace().client, kind);
  if (!ticket) {
    throw Rejection{429, "one address may have " + std::to_string(most) + " " + what +
                             " at the same time; try again when one of them has ended"};
  }
  return *std::move(ticket);
}

}  // namespace

std::optional<AddressCaps::Ticket> AddressCaps::take(const std::optional<Address>& address,
                                                     Kind kind) {
  if (!address || address->is_loopback()) return Ticket();
  const auto index = static_cast<std::size_t>(kind);
  const Key key = key_of(*address);
  const std::lock_guard lock(mutex_);
  std::size_t& count = counts_[key].at(index);
  if (count >= (kind == Kind::connections ? kMaxConnections : kMaxPlaces)) {
    ++refused_.at(index);
    return std::nullopt;
  }
  ++count;
  return Ticket(this, [this, key, index](const void*) { give_back(key, index); });
}

void AddressCaps::give_back(const Key& key, std::size_t kind) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(key);
  --found->second.at(kind);
  if (found->second == Counts{}) counts_.erase(found);
}

void count_request(Exchange& exchange) {
  RequestTrace& trace = exchange.trace();
  trace.client = exchange.loop().config().proxies.client_of(exchange.peer(), exchange.request());
  if (trace.client == exchange.peer().address) return;  // Counted as a connection.
  trace.tickets.front() =
      take(exchange, AddressCaps::Kind::connections, AddressCaps::kMaxConnections, "requests");
}

void take_waiting_place(Exchange& exchange) {
  exchange.trace().tickets.back() =
      take(exchange, AddressCaps::Kind::places, AddressCaps::kMaxPlaces, "calls that wait");
}

}  // namespace airlock::server

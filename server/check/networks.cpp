#include "check/networks.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kV4Bits = 32;
constexpr unsigned kV6Bits = 128;
constexpr std::size_t kClientBytes = 8;

std::optional<ip::address> parsed_address(std::string_view text) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  if (error || (address.is_v6() && address.to_v6().scope_id() != 0)) return std::nullopt;
  return without_mapping(address);
}

template <typename Network, typename Address>
bool any_contains(const std::vector<Network>& networks, const Address& address) {
  return std::any_of(networks.begin(), networks.end(), [&](const Network& network) {
    return network.canonical() == Network(address, network.prefix_length()).canonical();
  });
}

}  // namespace

ip::address without_mapping(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

void Networks::add(const std::string& text) {
  if (text == "unix") {
    has_unix_ = true;
    return;
  }
  boost::system::error_code error;
  if (const auto address = parsed_address(text)) {
    if (address->is_v4()) {
      v4_.emplace_back(address->to_v4(), kV4Bits);
    } else {
      v6_.emplace_back(address->to_v6(), kV6Bits);
    }
  } else if (const auto v4 = ip::make_network_v4(text, error); !error) {
    v4_.push_back(v4);
  } else if (const auto v6 = ip::make_network_v6(text, error); !error) {
    v6_.push_back(v6);
  } else {
    throw InvalidArgument(text + ": is neither \"unix\" nor an address or network of IPv4 or IPv6");
  }
}

bool Networks::has(const Peer& peer) const {
  if (!peer.address) return has_unix_ && peer.user.has_value();
  return has(*peer.address);
}

bool Networks::has(const ip::address& address) const {
  return address.is_v4() ? any_contains(v4_, address.to_v4()) : any_contains(v6_, address.to_v6());
}

std::optional<std::string> client_of(std::string_view address) {
  const auto found = parsed_address(address);
  if (!found) return std::nullopt;
  if (found->is_v4()) return found->to_string();
  auto bytes = found->to_v6().to_bytes();
  std::fill(bytes.begin() + kClientBytes, bytes.end(), 0);
  return ip::address_v6(bytes).to_string();
}

}  // namespace airlock::server

#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"

// Addresses of clients and of the proxies before them.

namespace airlock::server {

// Peers that may say for whom they ask: "unix" for all Unix sockets, addresses, and networks such as "10.0.0.0/8".
class Networks {
 public:
  // InvalidArgument for what is neither.
  void add(const std::string& text);

  [[nodiscard]] bool has(const Peer& peer) const;
  [[nodiscard]] bool has(const boost::asio::ip::address& address) const;

 private:
  bool has_unix_ = false;
  std::vector<boost::asio::ip::network_v4> v4_;
  std::vector<boost::asio::ip::network_v6> v6_;
};

// IPv4 in IPv6 becomes IPv4.
[[nodiscard]] boost::asio::ip::address without_mapping(const boost::asio::ip::address& address);

// One client, whatever address of its network it uses: an IPv4 address as it is, of an IPv6 address its first 64 bits.
// Nothing for text that is no address.
[[nodiscard]] std::optional<std::string> client_of(std::string_view address);

}  // namespace airlock::server

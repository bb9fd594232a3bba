#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string_view>

#include "check/networks.hpp"
#include "config/table_reader.hpp"

namespace airlock::server {

struct Peer;
struct Request;

using Address = boost::asio::ip::address;

// [server] trusted_proxies and client_header: which peers may say on whose behalf they ask, and where they say it.
class TrustedProxies {
 public:
  void read(TableReader& table);

  [[nodiscard]] bool is_trusted(const Peer& peer) const { return trusted_.has(peer); }

  // Whose request it is. Of a trusted peer: the last address in the header that is not itself a trusted proxy. What stands
  // before that could have been written by anybody. Nothing for Unix sockets without a header.
  [[nodiscard]] std::optional<Address> client_of(const Peer& peer, const Request& request) const;

 private:
  Networks trusted_;
  std::string_view header_ = "X-Forwarded-For";
};

// An address with or without a port, as proxies write it; IPv4 in IPv6 becomes IPv4.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

}  // namespace airlock::server

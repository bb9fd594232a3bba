#include "operations/client_address.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <cctype>

#include "airlock/error.hpp"
#include "http/exchange.hpp"

namespace airlock::server {
namespace {

namespace ip = boost::asio::ip;
using boost::system::error_code;

constexpr std::string_view kForwarded = "Forwarded";

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the last element off the list.
std::string_view take_last(std::string_view& list) {
  const std::size_t comma = list.rfind(',');
  const std::string_view last = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = list.substr(0, comma == std::string_view::npos ? 0 : comma);
  return trimmed(last);
}

// The value of `for` in an element of Forwarded (RFC 7239).
std::string_view forwarded_for(std::string_view element) {
  while (!element.empty()) {
    const std::size_t end = element.find(';');
    const std::string_view pair = trimmed(element.substr(0, end));
    element = end == std::string_view::npos ? std::string_view() : element.substr(end + 1);
    const bool is_for = pair.size() > 4 && pair[3] == '=' && std::tolower(pair[0]) == 'f' &&
                        std::tolower(pair[1]) == 'o' && std::tolower(pair[2]) == 'r';
    if (!is_for) continue;
    const std::string_view value = pair.substr(4);
    const bool is_quoted = value.size() > 1 && value.starts_with('"') && value.ends_with('"');
    return is_quoted ? value.substr(1, value.size() - 2) : value;
  }
  return {};
}

std::string_view without_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    return end == std::string_view::npos ? text : text.substr(1, end - 1);
  }
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos
             ? text.substr(0, colon)
             : text;
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  error_code error;
  const auto address = ip::make_address(std::string(without_port(text)), error);
  if (error || (address.is_v6() && address.to_v6().scope_id() != 0)) return std::nullopt;
  return without_mapping(address);
}

void TrustedProxies::read(TableReader& table) {
  for (const std::string& each : table.texts("trusted_proxies")) {
    try {
      trusted_.add(each);
    } catch (const InvalidArgument& error) {
      table.fail("trusted_proxies", error.what());
    }
  }
  const auto header =
      table.choice<std::string_view>("client_header", {{"X-Forwarded-For", "X-Forwarded-For"},
                                                       {kForwarded, kForwarded},
                                                       {"X-Real-IP", "X-Real-IP"}});
  if (header && !table.has("trusted_proxies"))
    table.fail("client_header", "needs trusted_proxies, from which alone it is taken");
  header_ = header.value_or(header_);
}

std::optional<Address> TrustedProxies::client_of(const Peer& peer, const Request& request) const {
  std::optional<Address> client = peer.address;
  if (!is_trusted(peer)) return client;
  auto lists = request.values(header_);  // One list, in several fields.
  while (!lists.empty()) {
    const std::string_view hop = take_last(lists.back());
    const auto address = parse_address(header_ == kForwarded ? forwarded_for(hop) : hop);
    if (!address) return client;
    client = address;
    if (!trusted_.has(*address)) return client;
    if (lists.back().empty()) lists.pop_back();
  }
  return client;
}

}  // namespace airlock::server

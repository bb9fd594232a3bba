#include "room/cookie.hpp"

#include <variant>
#include <vector>

namespace airlock::server {
namespace {

constexpr Duration kLifetime = std::chrono::hours(24);
constexpr std::string_view kAttributes = "; Path=/; Secure; HttpOnly; SameSite=Lax";
constexpr char kSeparator = '!';

// A key of the room signs nothing that counts elsewhere, and the other way round.
const PassContext kPurpose = {.bound = "airlock-room"};

std::string cookie_name(const GateName& gate) {
  constexpr std::size_t kSize = 16;
  const std::string digest = VisitorId::named("airlock-room/" + gate.text()).text();
  return "__Host-airlock-" + digest.substr(0, kSize);
}

std::string set_cookie(const GateName& gate, std::string_view value, Duration lifetime) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(lifetime).count();
  return cookie_name(gate)
      .append("=")
      .append(value)
      .append("; Max-Age=")
      .append(std::to_string(seconds))
      .append(kAttributes);
}

std::string signed_id(const Keyring& keys, const GateName& gate, const VisitorId& visitor) {
  return keys.sign_capability({.gate = gate, .visitor = visitor}, kLifetime, kPurpose);
}

// Of several with the name, the first that is worth something: strangers may set one for a parent domain.
std::vector<std::string_view> cookie_values(std::string_view cookies, std::string_view name) {
  std::vector<std::string_view> values;
  while (!cookies.empty()) {
    const std::size_t end = cookies.find(';');
    std::string_view pair = cookies.substr(0, end);
    cookies = end == std::string_view::npos ? std::string_view() : cookies.substr(end + 1);
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      values.push_back(pair.substr(name.size() + 1));
  }
  return values;
}

RoomTicket checked(std::string_view value, const Keyring& keys, const GateName& gate) {
  RoomTicket ticket;
  const std::size_t mark = value.find(kSeparator);
  const auto id = keys.check_capability(value.substr(0, mark), gate, kPurpose);
  if (const auto* const good = std::get_if<Capability>(&id)) ticket.visitor = good->token().visitor;
  if (!ticket.visitor || mark == std::string_view::npos) return ticket;
  const auto pass = keys.check_pass(value.substr(mark + 1), gate, kPurpose);
  const auto* const good = std::get_if<Pass>(&pass);
  if (good != nullptr && good->visitor() == *ticket.visitor) ticket.pass = *good;
  return ticket;
}

}  // namespace

RoomTicket read_ticket(const Request& request, const Keyring& keys, const GateName& gate) {
  const std::string name = cookie_name(gate);
  for (const std::string_view field : request.values("Cookie")) {
    for (const std::string_view value : cookie_values(field, name)) {
      const RoomTicket ticket = checked(value, keys, gate);
      if (ticket.visitor) return ticket;
    }
  }
  return {};
}

std::string waiting_cookie(const Keyring& keys, const GateName& gate, const VisitorId& visitor) {
  return set_cookie(gate, signed_id(keys, gate, visitor), kLifetime);
}

std::string admitted_cookie(const Keyring& keys, const Token& token, Duration expires_in) {
  const std::string pass = keys.sign_pass(token, expires_in, kPurpose);
  return set_cookie(token.gate, signed_id(keys, token.gate, token.visitor) + kSeparator + pass,
                    kLifetime);
}

std::string no_cookie(const GateName& gate) { return set_cookie(gate, "", Duration(0)); }

}  // namespace airlock::server

#include "config/browser_hosts.hpp"

#include <algorithm>
#include <cctype>

#include "http/head.hpp"

namespace airlock::server {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool is_host_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-';
  });
}

}  // namespace

void BrowserHosts::read(TableReader& server) {
  for (const std::string& name : server.texts("hosts")) {
    if (!is_host_name(name)) server.fail("hosts", "has to be names of hosts, without a port");
    names_.push_back(lower_case(name));
  }
}

bool BrowserHosts::allow(std::string_view authority) const {
  if (is_loopback_host(authority)) return true;
  const std::string name = lower_case(authority.substr(0, authority.find(':')));
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

}  // namespace airlock::server

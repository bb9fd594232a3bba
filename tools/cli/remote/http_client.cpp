#include "http_client.hpp"

#include "airlock/error.hpp"
#include "airlock/version.hpp"
#include "response_reader.hpp"
#include "transport.hpp"

namespace airlock::cli {
namespace {

std::string request_text(const HttpClient& client, const std::string& method,
                         const std::string& target, const std::string& body) {
  std::string text = method + " " + client.url.base + target + " HTTP/1.1\r\n" +
                     "Host: " + client.url.host_field() + "\r\nUser-Agent: airlock/" + version() +
                     "\r\nAccept: application/json\r\nConnection: close\r\n";
  if (!client.token.empty()) text += "Authorization: Bearer " + client.token + "\r\n";
  if (!body.empty()) {
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return text + "\r\n" + body;
}

HttpAnswer read_answer(Transport& transport) {
  ResponseReader reader;
  std::string unread;
  while (true) {
    unread += transport.read();
    std::string_view rest = unread;
    if (reader.read(rest)) return std::move(reader.answer());
    unread.erase(0, unread.size() - rest.size());
  }
}

}  // namespace

HttpAnswer HttpClient::ask(const std::string& method, const std::string& target,
                           const std::string& body) const {
  bool is_sent = false;
  try {
    Transport transport(url, ca);
    is_sent = true;
    transport.write(request_text(*this, method, target, body));
    return read_answer(transport);
  } catch (const StoreError& error) {
    const bool is_unknown = is_sent && method != "GET";
    throw StoreError(error.kind(), is_unknown ? StoreError::Outcome::unknown : error.outcome(),
                     "server " + url.text + ": " + error.what() +
                         (is_unknown ? "; it may have done what it was asked for" : ""));
  }
}

}  // namespace airlock::cli

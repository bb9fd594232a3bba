#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A request as handlers see it, and what they answer.

namespace airlock::server {

struct Request {
  std::string method;  // GET for HEAD, too.
  std::string path;    // Not decoded.
  std::string query;   // What follows the ?, not decoded.
  std::string host;
  std::string origin;
  std::string accept;
  std::string content_type;
  std::string authorization;  // A secret.
  std::string body;
  std::string fields;               // All of them, each as NAME:VALUE and a line feed.
  bool has_fetch_metadata = false;  // A Sec-Fetch-* field: a browser sent it.
  bool expects_continue = false;

  // Every value of a field, in order. Upper and lower case of its name are the same.
  [[nodiscard]] std::vector<std::string_view> values(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string_view content_type = "application/json";
  std::vector<std::pair<std::string_view, std::string>> fields = {};
  // Called if the answer could not be written to the client, on the loop of its connection.
  std::function<void()> on_unwritten = {};
  // What went wrong in the server or its store, for the error log; the client does not see it.
  std::string failure = {};
};

// Head and body, ready to be sent. `date` is the value of the Date field.
struct Framing {
  std::string_view date;
  bool keeps_alive = true;
  bool has_body = true;  // False: HEAD.
};
void append_response(std::string& out, const Response& response, const Framing& framing);

[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

}  // namespace airlock::server

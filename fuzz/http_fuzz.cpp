#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "fuzz.hpp"
#include "http/parser.hpp"

namespace {

using airlock::fuzz::require;
using airlock::server::RequestReader;

// What one reader makes of the bytes, given to it in pieces of this size.
struct Reading {
  RequestReader::State state = RequestReader::State::needs_more;
  std::size_t used = 0;
  int status = 0;
  airlock::server::Request request = {};

  [[nodiscard]] auto compared() const {
    return std::tie(request.method, request.path, request.query, request.host, request.origin,
                    request.accept, request.content_type, request.body, request.has_fetch_metadata,
                    request.expects_continue);
  }
};

Reading read(std::string_view bytes, std::size_t piece) {
  RequestReader reader;
  Reading reading;
  std::size_t given = 0;
  while (reading.state == RequestReader::State::needs_more && given < bytes.size()) {
    given = std::min(bytes.size(), given + piece);
    std::string_view unread = bytes.substr(reading.used, given - reading.used);
    const std::size_t before = unread.size();
    reading.state = reader.read(unread);
    if (reading.state == RequestReader::State::has_head) reading.state = reader.read(unread);
    reading.used += before - unread.size();
  }
  if (reading.state == RequestReader::State::failed) reading.status = reader.status();
  reading.request = reader.request();
  return reading;
}

// What holds of every request that is taken, found without the head check.
void require_sound(std::string_view bytes, const Reading& reading) {
  const std::size_t end = bytes.find("\r\n\r\n");
  require(end != std::string_view::npos && end + 4 <= reading.used &&
          end + 4 <= airlock::server::kMaxHead);
  const std::string_view head = bytes.substr(0, end + 2);
  require(std::count(head.begin(), head.end(), '\n') == std::count(head.begin(), head.end(), '\r'));
  for (std::size_t at = head.find('\n'); at != std::string_view::npos;
       at = head.find('\n', at + 1)) {
    require(head[at - 1] == '\r' &&
            (at + 1 == head.size() || (head[at + 1] != ' ' && head[at + 1] != '\t')));
  }
  require(reading.request.path.starts_with('/') &&
          reading.request.body.size() <= airlock::server::kMaxBody);
  if (head.find("chunked") == std::string_view::npos)
    require(reading.used == end + 4 + reading.request.body.size());
}

}  // namespace

// Any bytes are a request, the beginning of one, or refused; and it does not matter in which pieces they come.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  airlock::fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.byte();
  const std::string_view bytes = input.rest();
  const Reading whole = read(bytes, bytes.size() + 1);
  const Reading pieces = read(bytes, piece);
  if (whole.state == RequestReader::State::complete) {
    require_sound(bytes, whole);
    require(pieces.state == whole.state && pieces.used == whole.used &&
            pieces.compared() == whole.compared());
  } else {
    require(pieces.state != RequestReader::State::complete);
    // Fewer than 5 bytes of a chunked body are not looked at before more has come.
    const bool is_failed = whole.state == RequestReader::State::failed;
    const bool may_be_unseen = is_failed && bytes.size() - pieces.used < 5;
    require((pieces.state == RequestReader::State::failed) == is_failed || may_be_unseen);
    require(whole.state != RequestReader::State::failed ||
            (whole.status >= 400 && whole.status < 600));
  }
  return 0;
}

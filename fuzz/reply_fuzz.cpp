#include <vector>

#include "airlock/error.hpp"
#include "fuzz.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/redirect_reply.hpp"
#include "store/redis/reply.hpp"
#include "store/redis/wire.hpp"

using namespace airlock;  // NOLINT(google-build-using-namespace): the whole program is one function

namespace {

void read_script_reply(std::string_view text) {
  const auto try_to = [&](auto read) {
    try {
      redis::Unpacker fields(text);
      (void)redis::read_head(fields);
      read(fields);
    } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): an answer
    }
  };
  try_to([](redis::Unpacker& fields) { (void)redis::read_granted(fields, {.gate = "gate"}); });
  try_to([](redis::Unpacker& fields) { (void)redis::read_queued(fields); });
  try_to([](redis::Unpacker& fields) { (void)redis::read_refused(fields); });
  const std::vector<std::string_view> parts = {text.substr(0, 16), text.substr(text.size() / 2)};
  const redis::LookParts look = {.head = text, .rates = parts, .pauses = text, .now = text};
  try_to([&](redis::Unpacker&) { (void)redis::read_view("gate", look); });
  try_to([&](redis::Unpacker&) {
    redis::Visits visits;
    visits.add(parts[0], parts[1]);
    GateView view{.name = "gate", .counts = {}};
    visits.show_in(view, Duration(0));
    visits.count_in(view, Duration(0));
  });
  try_to([&](redis::Unpacker&) {
    redis::Summary summary("gate", {.look = look, .rest = text, .ended = text, .holder = parts});
    summary.leave_out(text, text);
  });
}

void look_at(const redis::Reply& reply, int depth) {
  read_script_reply(reply.text());
  if (reply.is_error()) (void)redis::refusal_of(reply.text());
  (void)redis::RedirectReply::parse(reply);
  (void)reply.integer();
  if (depth == 4) return;
  for (std::size_t i = 0; i < reply.size() && i < 8; ++i) look_at(reply.at(i), depth + 1);
}

}  // namespace

// A server may say anything, in pieces of any size.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.byte();
  redis::ReplyReader reader;
  try {
    while (!input.is_empty()) {
      reader.feed(input.bytes(piece));
      for (redis::Reply reply; reader.next(reply);) look_at(reply, 0);
    }
  } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): an answer
  }
  read_script_reply(fuzz::text_of(data, size));
  return 0;
}

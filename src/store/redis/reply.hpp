#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

struct redisReader;
struct redisReply;
struct redisReplyObjectFunctions;

namespace airlock::redis {

// What a server said.
class Reply {
 public:
  Reply() noexcept : Reply(nullptr, leave) {}

  [[nodiscard]] bool is_nil() const noexcept;
  [[nodiscard]] bool is_error() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;
  [[nodiscard]] std::string_view text() const noexcept;  // Of a string, status or error.
  [[nodiscard]] std::int64_t integer() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;       // Of an array.
  [[nodiscard]] Reply at(std::size_t i) const noexcept;  // Lives as long as this. Nil: none there.

 private:
  friend class ReplyReader;
  using Free = void (*)(redisReply* reply) noexcept;
  Reply(redisReply* reply, Free free) noexcept : reply_(reply, free) {}
  static void leave(redisReply* /*reply*/) noexcept {}  // It is a part of another.

  std::unique_ptr<redisReply, Free> reply_;
};

// Turns bytes into replies. Bounded: a server that speaks garbage, or without end, is an error.
class ReplyReader {
 public:
  ReplyReader();
  ~ReplyReader();

  void feed(std::string_view bytes);      // StoreError (unknown outcome) if it is too much.
  [[nodiscard]] bool next(Reply& reply);  // False: not complete. StoreError if it makes no sense.

 private:
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };
  std::unique_ptr<redisReplyObjectFunctions> functions_;
  std::unique_ptr<redisReader, Free> reader_;
  std::size_t fed_ = 0;  // Since the last complete reply.
};

}  // namespace airlock::redis

#include "store/redis/reply.hpp"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#include <atomic>
#include <new>
#include <string>
#include <utility>

#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // A look at a million holders.
constexpr std::size_t kMostElements = 4'000'000;

StoreError senseless(const std::string& what) {
  return {StoreError::Kind::incompatible, Outcome::unknown, "redis: the reply " + what};
}

using CreateArray = decltype(redisReplyObjectFunctions::createArray);

// hiredis would ask for the memory of as many elements as the server announces. The type of the
// count differs between its versions.
struct Bounded {
  template <typename Count>
  static void* create_array(const redisReadTask* task, Count count) {
    if (std::cmp_less(count, 0) || std::cmp_greater(count, kMostElements)) return nullptr;
    return original.load(std::memory_order_relaxed)(task, count);
  }

  template <typename Count>
  static CreateArray replace(void* (*its_own)(const redisReadTask*, Count)) {
    original.store(its_own, std::memory_order_relaxed);
    return &create_array<Count>;
  }

  static std::atomic<CreateArray> original;  // Always the same.
};

constinit std::atomic<CreateArray> Bounded::original{nullptr};

redisReplyObjectFunctions bounded_functions(const redisReplyObjectFunctions& own) {
  redisReplyObjectFunctions functions = own;
  functions.createArray = Bounded::replace(own.createArray);
  return functions;
}

void free_reply(redisReply* reply) noexcept { freeReplyObject(reply); }

}  // namespace

bool Reply::is_nil() const noexcept { return !reply_ || reply_->type == REDIS_REPLY_NIL; }
bool Reply::is_error() const noexcept { return reply_ && reply_->type == REDIS_REPLY_ERROR; }
bool Reply::is_array() const noexcept { return reply_ && reply_->type == REDIS_REPLY_ARRAY; }

std::string_view Reply::text() const noexcept {
  if (!reply_ || reply_->str == nullptr) return {};
  return {reply_->str, static_cast<std::size_t>(reply_->len)};
}

std::int64_t Reply::integer() const noexcept {
  return reply_ && reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0;
}

std::size_t Reply::size() const noexcept { return is_array() ? reply_->elements : 0; }

Reply Reply::at(std::size_t i) const noexcept {
  return i < size() ? Reply(reply_->element[i], leave) : Reply();
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

ReplyReader::ReplyReader() : reader_(redisReaderCreate()) {
  if (!reader_) throw std::bad_alloc();
  functions_ = std::make_unique<redisReplyObjectFunctions>(bounded_functions(*reader_->fn));
  reader_->fn = functions_.get();
}

void ReplyReader::feed(std::string_view bytes) {
  fed_ += bytes.size();
  if (fed_ > kMostBytes) throw senseless("is longer than 256 MB; is a Redis server there?");
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    throw senseless(std::string("cannot be read: ") + static_cast<const char*>(reader_->errstr));
  }
}

bool ReplyReader::next(Reply& reply) {
  void* read = nullptr;
  if (redisReaderGetReply(reader_.get(), &read) != REDIS_OK) {
    throw senseless(std::string("is not of a Redis server (") +
                    static_cast<const char*>(reader_->errstr) + "); check host and port");
  }
  if (read == nullptr) return false;
  reply = Reply(static_cast<redisReply*>(read), free_reply);
  fed_ = 0;
  return true;
}

}  // namespace airlock::redis

#include "store/redis/notify/reader_role.hpp"

#include <utility>

namespace airlock::redis {

void ReaderRole::close() noexcept {
  stream_ = nullptr;
  call_back();
}

bool ReaderRole::is_for_thread() noexcept {
  if (reader_ == Reader::nobody) reader_ = Reader::thread;
  return reader_ == Reader::thread;
}

void ReaderRole::call_thread() const noexcept {
  if (reader_ == Reader::nobody) thread_event_.signal();
}

MessageStream* ReaderRole::take_over() noexcept {
  if (stream_ == nullptr || reader_ == Reader::sleeper) return nullptr;
  sleeper_event_.reset();
  if (std::exchange(reader_, Reader::sleeper) == Reader::thread) thread_event_.signal();
  return stream_;
}

void ReaderRole::call_back() const noexcept {
  if (reader_ == Reader::sleeper) sleeper_event_.signal();
}

}  // namespace airlock::redis

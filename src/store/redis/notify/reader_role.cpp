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
  if (reader_ == Reader::nobody) events_.thread.signal();
}

MessageStream* ReaderRole::take_over() noexcept {
  if (stream_ == nullptr || reader_ == Reader::sleeper) return nullptr;
  events_.sleeper.reset();
  if (std::exchange(reader_, Reader::sleeper) == Reader::thread) events_.thread.signal();
  return stream_;
}

void ReaderRole::call_back() const noexcept {
  if (reader_ == Reader::sleeper) events_.sleeper.signal();
}

}  // namespace airlock::redis

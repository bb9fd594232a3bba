#include "operations/line_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

constexpr mode_t kMode = 0640;
// What a pipe that has room takes without blocking.
constexpr std::size_t kPortion = 4'096;
constexpr int kPollMilliseconds = 100;
constexpr int kLastPolls = 10;

// A blocking descriptor may be shared with other processes, so it is not made non-blocking.
ssize_t write_portion(int descriptor, std::string_view bytes) {
  const ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? ::write(descriptor, bytes.data(), bytes.size()) : sent;
}

}  // namespace

LogFile::LogFile(const std::string& path)
    : descriptor_(open(path.c_str(),
                       O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kMode)) {
  if (descriptor_ < 0)
    throw InvalidArgument(path + ": cannot be opened: " + std::generic_category().message(errno));
}

LogFile::~LogFile() {
  if (is_ours_) close(descriptor_);
}

LineWriter::LineWriter(std::shared_ptr<const LogFile> file)
    : file_(std::move(file)), thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  is_ending_ = true;
  { const std::lock_guard lock(mutex_); }
  news_.notify_one();
  thread_.join();
}

void LineWriter::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (queue_.text.size() + line.size() >= kMaxQueued) {
    ++dropped_;
    return;
  }
  queue_.text.append(line) += '\n';
  if (queue_.lines++ == 0) news_.notify_one();
}

void LineWriter::redirect(std::shared_ptr<const LogFile> file) {
  const std::lock_guard lock(mutex_);
  file_ = std::move(file);
}

void LineWriter::run() {
  pthread_setname_np(pthread_self(), "airlock-log");
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [this] { return queue_.lines != 0 || is_ending_; });
    if (queue_.lines == 0) return;
    const Batch batch = std::exchange(queue_, {});
    const auto file = file_;
    lock.unlock();
    write_out(batch, file->descriptor());
    lock.lock();
  }
}

void LineWriter::write_out(const Batch& batch, int descriptor) {
  std::string_view left = batch.text;
  while (!left.empty() && await_room(descriptor)) {
    const ssize_t size = write_portion(descriptor, left.substr(0, kPortion));
    if (size > 0) left.remove_prefix(static_cast<std::size_t>(size));
    if (size < 0 && errno != EINTR && errno != EAGAIN) break;
  }
  dropped_ += static_cast<std::uint64_t>(std::count(left.begin(), left.end(), '\n'));
}

// False if the server ends and nobody reads.
bool LineWriter::await_room(int descriptor) {
  pollfd waited{.fd = descriptor, .events = POLLOUT, .revents = 0};
  for (int polls = 0; polls < kLastPolls;) {
    if (poll(&waited, 1, kPollMilliseconds) > 0) return true;
    if (is_ending_) ++polls;
  }
  return false;
}

}  // namespace airlock::server

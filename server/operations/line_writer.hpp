#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace airlock::server {

// A file descriptor that is written to.
class LogFile {
 public:
  // A file that is appended to and made with mode 0640. InvalidArgument if it cannot be opened.
  explicit LogFile(const std::string& path);
  explicit LogFile(int standard_stream) : descriptor_(standard_stream), is_ours_(false) {}
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
  bool is_ours_ = true;
};

// Writes lines on a thread of its own, so that no caller waits for a disk or for the reader of a pipe. Any thread may call
// it. Lines that find the queue full, or that cannot be written, are dropped and counted.
class LineWriter {
 public:
  explicit LineWriter(std::shared_ptr<const LogFile> file);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter();  // Writes what is queued, for at most a second.

  void write(std::string_view line);  // Without its end.
  void redirect(std::shared_ptr<const LogFile> file);

  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

  static constexpr std::size_t kMaxQueued = std::size_t{1} << 20U;  // Bytes.

 private:
  // Lines, and how many they are.
  struct Batch {
    std::string text = {};
    std::uint64_t lines = 0;
  };

  void run();
  void write_out(const Batch& batch, int descriptor);
  [[nodiscard]] bool await_room(int descriptor);

  std::mutex mutex_;
  std::condition_variable news_;
  Batch queue_;
  std::shared_ptr<const LogFile> file_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace airlock::server

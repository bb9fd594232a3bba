#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "store/shm/file.hpp"
#include "store/shm/layout.hpp"

namespace airlock::shm {

// What a segment belongs to besides its name.
struct HostIdentity {
  std::string boot;
  std::uint64_t time_namespace = 0;

  [[nodiscard]] static HostIdentity present();
};

// A mapped segment. StoreError (incompatible) if what has its name is not one, or not one of this
// version and time namespace. One of an earlier boot is replaced: on a file system in memory there is
// none, elsewhere it has another boot id and no process uses it.
class Segment {
 public:
  explicit Segment(const Options& options, const HostIdentity& host);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  [[nodiscard]] Header& header() const noexcept { return *at<Header>(0); }
  // REQUIRES: below kMaxProcesses, and that its page is there.
  [[nodiscard]] ProcessRecord& process(std::uint32_t number) const noexcept {
    return at<ProcessRecord>(Layout::kProcesses)[number];
  }
  [[nodiscard]] ShardControl& control(std::uint32_t shard) const noexcept {
    return at<ShardControl>(Layout::kControls)[shard];
  }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  template <typename T>
  [[nodiscard]] T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }

  // Memory for a part of the segment. 0, or why there is none: an errno.
  [[nodiscard]] int allocate(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  // Gives the memory of whole pages back; they read as zeroes.
  void give_back(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  [[nodiscard]] const File& file() const noexcept { return file_; }
  [[nodiscard]] const FileId& id() const noexcept { return id_; }
  // A descriptor of the file without locks, so that it sees everybody's. Opened again if the program
  // has closed it; below 0: that is not possible now.
  [[nodiscard]] int probe() const noexcept;
  // Another description of the same file. Empty: its name is another's by now.
  [[nodiscard]] Descriptor reopen() const;

  // Until then nobody takes it for one of an earlier boot. Called when a process has its byte lock.
  void release_name() const noexcept { File::release_name(probe()); }

  // Why this segment is not to be used any more; empty: it is. It was removed, replaced or truncated.
  [[nodiscard]] std::string problem() const;

 private:
  [[nodiscard]] bool attach(const HostIdentity& host);
  [[nodiscard]] bool is_file(int fd) const noexcept;
  [[nodiscard]] bool create(const Options& options, const HostIdentity& host);
  void check(const Header& header, std::uint64_t size, const HostIdentity& host) const;
  void map(int fd);

  File file_;
  mutable std::atomic<int> probe_ = -1;
  FileId id_;
  Layout layout_{1};
  std::byte* base_ = nullptr;
};

// Takes the segment's name away; the memory goes when the last process that uses it does. False:
// there was none.
[[nodiscard]] bool remove_segment(const Options& options);

}  // namespace airlock::shm

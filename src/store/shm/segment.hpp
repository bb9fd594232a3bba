#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "store/shm/file.hpp"
#include "store/shm/layout.hpp"

namespace airlock::shm {

// What a segment belongs to besides its name.
struct Surroundings {
  std::string boot;
  std::uint64_t time_namespace = 0;

  [[nodiscard]] static Surroundings present();
};

// A mapped segment. StoreError (incompatible) if what has its name is not one, or not one of this
// version and time namespace; one of an earlier boot is replaced.
class Segment {
 public:
  explicit Segment(const Options& options, const Surroundings& surroundings);
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

  // Memory for a part of the segment. False: there is no more.
  [[nodiscard]] bool allocate(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  // Gives the memory of whole pages back; they read as zeroes.
  void give_back(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  [[nodiscard]] const File& file() const noexcept { return file_; }
  [[nodiscard]] const FileId& id() const noexcept { return id_; }
  // Whether a descriptor is of this file: a program may close what it did not open.
  [[nodiscard]] bool is_file(int fd) const noexcept;
  // Has no lock, so that it sees everybody's.
  [[nodiscard]] int probe() const noexcept { return probe_.get(); }
  // Another description of the same file. Empty: its name is another's by now.
  [[nodiscard]] Descriptor reopen() const;

  // Why other processes would not find this segment any more; empty: they do.
  [[nodiscard]] std::string whereabouts() const;

 private:
  [[nodiscard]] bool attach(const Surroundings& surroundings);
  [[nodiscard]] bool create(const Options& options, const Surroundings& surroundings);
  void check(const Header& header, std::uint64_t size, const Surroundings& surroundings) const;
  void map(int fd);

  File file_;
  Descriptor probe_;
  FileId id_;
  Layout layout_{1};
  std::byte* base_ = nullptr;
};

// Takes the segment's name away; the memory goes when the last process that uses it does. False:
// there was none.
[[nodiscard]] bool remove_segment(const Options& options);

}  // namespace airlock::shm

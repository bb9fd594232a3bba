#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "store/shm/options.hpp"

// The file of a segment: finding, checking and making it.

namespace airlock::shm {

// A descriptor, closed in the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept;

 private:
  int fd_ = -1;
};

// Which file it is, whatever its name.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

// A name in a folder. Follows no symbolic link and trusts nothing that somebody else could have put
// there: what is not a regular file of the expected owner and rights, or is on a network, is a
// StoreError (incompatible) that says so.
class File {
 public:
  explicit File(const Options& options);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  // Empty: there is none. Every call gives a description of its own.
  [[nodiscard]] Descriptor open() const;

  // A file without a name that place() gives it, or, where the file system has no such thing, with
  // another one.
  struct Unnamed {
    Descriptor fd;
    std::string name = {};
  };
  [[nodiscard]] Unnamed make() const;
  // False: somebody was faster.
  [[nodiscard]] bool place(const Unnamed& file) const;

  // Takes the name from a file, unless it is another's by now. False: it is, or somebody else is
  // about to.
  [[nodiscard]] bool remove(const Descriptor& fd) const;

  [[nodiscard]] static FileId id_of(int fd);
  // What has the name now; none: 0, 0.
  [[nodiscard]] FileId present() const noexcept;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void check(int fd) const;

  std::string folder_;
  std::string name_;
  std::string path_;
  mode_t mode_;
  bool shared_by_group_;
  gid_t group_ = 0;
  Descriptor dir_;
};

}  // namespace airlock::shm

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "store/shm/folder.hpp"

// The file of a segment: finding, checking and making it.

namespace airlock::shm {

// Which file it is, whatever its name.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

// A name in a folder. Follows no symbolic link and trusts nothing that somebody else could have put
// there: what is not a regular file of the expected owner and rights, or is on a network, is a
// StoreError (incompatible) that says so. The folder is made if it is not there. Keeps no descriptor.
class File {
 public:
  explicit File(const Options& options);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_.path(); }

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

  // Takes the name from a file. False: another file has it by now, somebody else is about to take it
  // away, or keeps it.
  [[nodiscard]] bool remove(const Descriptor& fd) const;
  // The same; false also if a process uses the file.
  [[nodiscard]] bool remove_unused(const Descriptor& fd) const;
  // Whether a process uses it. Not seen: the locks of the description itself.
  [[nodiscard]] static bool is_used(const Descriptor& fd) noexcept;

  // The file keeps its name until release_name(), or until the description is closed. False: somebody
  // is about to take the name away, or has.
  [[nodiscard]] bool keep_name(const Descriptor& fd) const;
  static void release_name(int fd) noexcept;

  // Whether the file is in memory, so that nothing in it is of an earlier boot.
  [[nodiscard]] static bool ends_with_boot(const Descriptor& fd);

  [[nodiscard]] static FileId id_of(int fd);
  // What has the name now; none: 0, 0. Empty: that cannot be seen, for lack of rights.
  [[nodiscard]] std::optional<FileId> present() const noexcept;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void check(int fd) const;
  [[nodiscard]] bool is_named(const Descriptor& fd) const;
  void unlink() const;

  Folder folder_;
  std::string name_;
  std::string path_;
  mode_t mode_;
};

}  // namespace airlock::shm

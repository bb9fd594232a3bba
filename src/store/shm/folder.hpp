#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "store/shm/options.hpp"

namespace airlock::shm {

using base::Descriptor;

// The folder of a segment. It belongs to this user or to root, or to the group that shares it, and
// nobody else can replace what is in it; otherwise StoreError (incompatible) says why not.
class Folder {
 public:
  explicit Folder(const Options& options);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Who shares it besides its owner.
  [[nodiscard]] std::optional<gid_t> group() const noexcept { return group_; }

  // Made if it is not there, and checked each time.
  [[nodiscard]] Descriptor open() const;

 private:
  void make() const;
  void make_for_group() const;
  void check(const Descriptor& folder) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::string path_;
  std::optional<gid_t> group_;
};

}  // namespace airlock::shm

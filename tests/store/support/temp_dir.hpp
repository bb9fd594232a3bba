#pragma once

#include <string>

namespace airlock {

// A folder of its own in shared memory, gone with all that is in it in the end, also when the process is
// killed; not in a forked child.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int owner_;
};

}  // namespace airlock

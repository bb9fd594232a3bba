#include "store/support/temp_dir.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace airlock {

TempDir::TempDir() : owner_(getpid()) {
  const bool has_shm = access("/dev/shm", W_OK) == 0;
  path_ = std::string(has_shm ? "/dev/shm" : "/tmp") + "/airlock-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) std::abort();
}

TempDir::~TempDir() {
  if (getpid() != owner_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace airlock

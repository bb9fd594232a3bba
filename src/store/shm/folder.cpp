#include "store/shm/folder.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "airlock/error.hpp"
#include "base/posix.hpp"
#include "base/quote.hpp"
#include "base/random.hpp"

namespace airlock::shm {
namespace {

gid_t find_group(const std::string& name) {
  std::vector<char> text(16'384);
  group entry{};
  group* found = nullptr;
  if (getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found) == 0 && found != nullptr) {
    return found->gr_gid;
  }
  throw InvalidArgument("store URI: option group=" + base::quoted(name) +
                        ": there is no such group");
}

[[noreturn]] void throw_failed(const std::string& call, int error) {
  base::throw_errno(call.c_str(), error);
}

}  // namespace

Folder::Folder(const Options& options)
    : path_(options.dir.empty() ? "/dev/shm/airlock-" + std::to_string(geteuid()) : options.dir) {
  if (!options.group.empty()) group_ = find_group(options.group);
}

void Folder::refuse(const std::string& why) const {
  throw StoreError(StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
                   "shared memory in " + path_ + ": " + why);
}

Descriptor Folder::open() const {
  constexpr int kHow = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor folder(::open(path_.c_str(), kHow));
  if (!folder && errno == ENOENT) {
    make();
    folder = Descriptor(::open(path_.c_str(), kHow));
  }
  if (!folder) {
    const int error = errno;
    struct stat status {};
    if (lstat(path_.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      refuse(S_ISLNK(status.st_mode) ? "its folder is a symbolic link, which is not followed"
                                     : "not a folder but a file; dir= names a folder");
    }
    throw_failed("open " + path_, error);
  }
  check(folder);
  return folder;
}

void Folder::make() const {
  if (group_) return make_for_group();
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) throw_failed("mkdir " + path_, errno);
}

// Under another name until the group can use it. Somebody else may be faster.
void Folder::make_for_group() const {
  const std::string made = path_ + '.' + std::to_string(base::random64());
  if (mkdir(made.c_str(), 0700) != 0) throw_failed("mkdir " + path_, errno);
  const bool placed =
      chown(made.c_str(), static_cast<uid_t>(-1), *group_) == 0 &&
      chmod(made.c_str(), 02770) == 0 &&
      renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
  if (placed) return;
  const int error = errno;
  rmdir(made.c_str());
  if (error == EPERM) refuse("cannot be given to the group: this user is not a member of it");
  if (error != EEXIST) throw_failed("make " + path_, error);
}

void Folder::check(const Descriptor& folder) const {
  struct stat status {};
  if (fstat(folder.get(), &status) != 0) base::throw_errno("fstat", errno);
  const bool of_group = group_ && status.st_gid == *group_;
  const bool by_group = (status.st_mode & S_IWGRP) != 0;
  if (status.st_uid != geteuid() && status.st_uid != 0 && !(of_group && by_group)) {
    refuse("its folder belongs to another user, uid " + std::to_string(status.st_uid) +
           ", who created it first; name another one with dir=, or have it removed");
  }
  const bool by_strangers = (status.st_mode & S_IWOTH) != 0 || (by_group && !of_group);
  if (by_strangers && (status.st_mode & S_ISVTX) == 0) {
    refuse("others may write to its folder and could replace it");
  }
}

}  // namespace airlock::shm

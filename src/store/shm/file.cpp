#include "store/shm/file.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "airlock/error.hpp"
#include "base/hex.hpp"
#include "base/posix.hpp"
#include "base/random.hpp"
#include "store/shm/layout.hpp"

namespace airlock::shm {
namespace {

// Where a lock or a mapping is not what it is on one host.
bool is_remote(long type) noexcept {
  constexpr std::array<unsigned, 13> kRemote = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x65735546,  // FUSE
      0x01021997,  // 9P
      0x00C36400,  // Ceph
      0x73757245,  // Coda
      0x5346414F,  // AFS
      0x6B414653,  // kAFS
      0x0BD00BD0,  // Lustre
      0x01161970,  // GFS2
      0x7461636F,  // OCFS2
  };
  return std::ranges::find(kRemote, static_cast<unsigned>(type)) != kRemote.end();
}

gid_t find_group(const std::string& name) {
  std::vector<char> text(16'384);
  group entry{};
  group* found = nullptr;
  if (getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found) == 0 && found != nullptr) {
    return found->gr_gid;
  }
  throw InvalidArgument("store URI: option group: there is no such group");
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

int Descriptor::release() noexcept { return std::exchange(fd_, -1); }

File::File(const Options& options)
    : folder_(options.dir.empty() ? "/dev/shm/airlock-" + std::to_string(geteuid()) : options.dir),
      name_(options.name),
      path_(folder_ + '/' + name_),
      mode_(options.mode),
      shared_by_group_(!options.group.empty()) {
  if (shared_by_group_) group_ = find_group(options.group);
  const int made = mkdir(folder_.c_str(), 0700);
  if (made != 0 && errno != EEXIST) base::throw_errno(("mkdir " + folder_).c_str(), errno);
  dir_ = Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir_) {
    if (errno == ELOOP || errno == ENOTDIR) refuse("its folder is not a folder but a link to one");
    base::throw_errno(("open " + folder_).c_str(), errno);
  }
  struct stat status {};
  if (fstat(dir_.get(), &status) != 0) base::throw_errno("fstat", errno);
  const bool trusted = status.st_uid == geteuid() || status.st_uid == 0;
  if (!trusted) refuse("its folder belongs to somebody else");
  const bool by_others = (status.st_mode & S_IWOTH) != 0;
  const bool by_group =
      (status.st_mode & S_IWGRP) != 0 && !(shared_by_group_ && status.st_gid == group_);
  if ((by_others || by_group) && (status.st_mode & S_ISVTX) == 0) {
    refuse("others may write to its folder and could replace it");
  }
}

void File::refuse(const std::string& why) const {
  throw StoreError(StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
                   "shared memory " + path_ + ": " + why);
}

FileId File::id_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) base::throw_errno("fstat", errno);
  return {status.st_dev, status.st_ino};
}

FileId File::present() const noexcept {
  struct stat status {};
  if (fstatat(AT_FDCWD, path_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return {status.st_dev, status.st_ino};
}

void File::check(int fd) const {
  struct stat status {};
  if (fstat(fd, &status) != 0) base::throw_errno("fstat", errno);
  if (!S_ISREG(status.st_mode)) refuse("not a regular file");
  const bool of_group = shared_by_group_ && status.st_gid == group_;
  if (status.st_uid != geteuid() && status.st_uid != 0 && !of_group) {
    refuse("it belongs to somebody else");
  }
  if ((status.st_mode & 0777 & ~mode_) != 0) refuse("more may use it than mode= says");
  if (status.st_nlink > 1) refuse("it has a second name");
  struct statfs system {};
  if (fstatfs(fd, &system) != 0) base::throw_errno("fstatfs", errno);
  if (is_remote(system.f_type)) refuse("it is on a network file system");
}

Descriptor File::open() const {
  Descriptor fd(
      openat(dir_.get(), name_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd) {
    check(fd.get());
    return fd;
  }
  if (errno == ELOOP) refuse("not a regular file but a symbolic link");
  if (errno == EISDIR || errno == ENXIO) refuse("not a regular file");
  if (errno != ENOENT) base::throw_errno(("open " + path_).c_str(), errno);
  return {};
}

File::Unnamed File::make() const {
  Unnamed file{Descriptor(openat(dir_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600))};
  if (!file.fd && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
    file.name = '.' + name_ + '.' + std::to_string(base::random64());
    file.fd = Descriptor(openat(dir_.get(), file.name.c_str(),
                                O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
  }
  if (!file.fd) base::throw_errno(("create in " + folder_).c_str(), errno);
  if (shared_by_group_ && fchown(file.fd.get(), static_cast<uid_t>(-1), group_) != 0) {
    base::throw_errno("fchown", errno);
  }
  if (fchmod(file.fd.get(), mode_) != 0) base::throw_errno("fchmod", errno);
  return file;
}

bool File::place(const Unnamed& file) const {
  int result = 0;
  if (file.name.empty()) {
    const std::string self = "/proc/self/fd/" + std::to_string(file.fd.get());
    result = linkat(file.fd.get(), "", dir_.get(), name_.c_str(), AT_EMPTY_PATH);
    if (result != 0 && errno != EEXIST) {  // Without the right to do that.
      result = linkat(AT_FDCWD, self.c_str(), dir_.get(), name_.c_str(), AT_SYMLINK_FOLLOW);
    }
  } else {
    result = renameat2(dir_.get(), file.name.c_str(), dir_.get(), name_.c_str(), RENAME_NOREPLACE);
    const int error = errno;
    if (result != 0) unlinkat(dir_.get(), file.name.c_str(), 0);
    errno = error;
  }
  if (result != 0 && errno != EEXIST) base::throw_errno(("link " + path_).c_str(), errno);
  return result == 0;
}

// Whoever removes has a lock on the file, so that nobody removes the one that comes after it.
bool File::remove(const Descriptor& fd) const {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(kReplacing);
  lock.l_len = 1;
  if (fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) return false;
  if (present() != id_of(fd.get())) return false;
  if (unlinkat(dir_.get(), name_.c_str(), 0) != 0)
    base::throw_errno(("unlink " + path_).c_str(), errno);
  return true;
}

}  // namespace airlock::shm

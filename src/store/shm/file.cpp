#include "store/shm/file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "airlock/error.hpp"
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

struct flock byte_range(short type, std::uint64_t start, std::uint64_t length) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(start);
  lock.l_len = static_cast<off_t>(length);
  return lock;
}

// Locks or unlocks bytes of the file for its description, if nobody else has them.
bool try_lock(int fd, short type, std::uint64_t start, std::uint64_t length) noexcept {
  struct flock lock = byte_range(type, start, length);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

}  // namespace

File::File(const Options& options)
    : folder_(options),
      name_(options.name),
      path_(folder_.path() + '/' + name_),
      mode_(options.mode) {}

void File::refuse(const std::string& why) const {
  throw StoreError(StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
                   "shared memory " + path_ + ": " + why);
}

FileId File::id_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) base::throw_errno("fstat", errno);
  return {status.st_dev, status.st_ino};
}

std::optional<FileId> File::present() const noexcept {
  struct stat status {};
  if (lstat(path_.c_str(), &status) == 0) return FileId{status.st_dev, status.st_ino};
  if (errno == EACCES) return std::nullopt;
  return FileId{};
}

bool File::is_named(const Descriptor& fd) const { return present() == id_of(fd.get()); }

void File::check(int fd) const {
  struct stat status {};
  if (fstat(fd, &status) != 0) base::throw_errno("fstat", errno);
  if (!S_ISREG(status.st_mode)) refuse("not a regular file");
  const bool of_group = folder_.group() && status.st_gid == *folder_.group();
  if (status.st_uid != geteuid() && status.st_uid != 0 && !of_group) {
    refuse("it belongs to another user");
  }
  if ((status.st_mode & 0777 & ~mode_) != 0) refuse("it gives more access than mode= allows");
  if (status.st_nlink > 1) refuse("it has a second hard link");
  struct statfs system {};
  if (fstatfs(fd, &system) != 0) base::throw_errno("fstatfs", errno);
  if (is_remote(system.f_type)) refuse("it is on a network file system");
}

Descriptor File::open() const {
  const Descriptor folder = folder_.open();
  Descriptor fd(
      openat(folder.get(), name_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
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
  const Descriptor folder = folder_.open();
  Unnamed file{Descriptor(openat(folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600))};
  if (!file.fd && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
    file.name = '.' + name_ + '.' + std::to_string(base::random64());
    file.fd = Descriptor(openat(folder.get(), file.name.c_str(),
                                O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
  }
  if (!file.fd) base::throw_errno(("create in " + folder_.path()).c_str(), errno);
  const auto group = folder_.group();
  if (group && fchown(file.fd.get(), static_cast<uid_t>(-1), *group) != 0) {
    base::throw_errno("fchown", errno);
  }
  if (fchmod(file.fd.get(), mode_) != 0) base::throw_errno("fchmod", errno);
  return file;
}

bool File::place(const Unnamed& file) const {
  int result = 0;
  const Descriptor folder = folder_.open();
  if (file.name.empty()) {
    const std::string self = "/proc/self/fd/" + std::to_string(file.fd.get());
    result = linkat(file.fd.get(), "", folder.get(), name_.c_str(), AT_EMPTY_PATH);
    if (result != 0 && errno != EEXIST) {  // Without the right to do that.
      result = linkat(AT_FDCWD, self.c_str(), folder.get(), name_.c_str(), AT_SYMLINK_FOLLOW);
    }
  } else {
    result =
        renameat2(folder.get(), file.name.c_str(), folder.get(), name_.c_str(), RENAME_NOREPLACE);
    const int error = errno;
    if (result != 0) unlinkat(folder.get(), file.name.c_str(), 0);
    errno = error;
  }
  if (result != 0 && errno != EEXIST) base::throw_errno(("link " + path_).c_str(), errno);
  return result == 0;
}

void File::unlink() const {
  const Descriptor folder = folder_.open();
  if (unlinkat(folder.get(), name_.c_str(), 0) != 0) {
    base::throw_errno(("unlink " + path_).c_str(), errno);
  }
}

// The lock keeps others from removing the file that comes after this one.
bool File::remove(const Descriptor& fd) const {
  if (!try_lock(fd.get(), F_WRLCK, kReplacing, 1) || !is_named(fd)) return false;
  unlink();
  return true;
}

bool File::remove_unused(const Descriptor& fd) const {
  if (!try_lock(fd.get(), F_WRLCK, kReplacing, 1) || !is_named(fd) || is_used(fd)) return false;
  unlink();
  return true;
}

// What cannot be asked counts as used.
bool File::is_used(const Descriptor& fd) noexcept {
  struct flock lock = byte_range(F_WRLCK, kLocks, kMaxProcesses);
  return fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool File::keep_name(const Descriptor& fd) const {
  return try_lock(fd.get(), F_RDLCK, kReplacing, 1) && is_named(fd);
}

void File::release_name(int fd) noexcept { (void)try_lock(fd, F_UNLCK, kReplacing, 1); }

bool File::ends_with_boot(const Descriptor& fd) {
  struct statfs system {};
  if (fstatfs(fd.get(), &system) != 0) base::throw_errno("fstatfs", errno);
  return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

}  // namespace airlock::shm

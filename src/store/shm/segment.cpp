#include "store/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "airlock/error.hpp"
#include "base/crc32c.hpp"
#include "base/posix.hpp"
#include "base/random.hpp"

namespace airlock::shm {
namespace {

constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr int kTries = 100;  // Others make, replace and remove it meanwhile; they cannot go on so.
constexpr auto kBetweenTries = std::chrono::milliseconds(2);

std::uint32_t check_of(const Header& header) noexcept {
  return base::crc32c({reinterpret_cast<const char*>(&header), offsetof(Header, check)});
}

bool is_of_another_boot(const Header& header, const HostIdentity& host) {
  const std::string_view boot(header.boot.data(), strnlen(header.boot.data(), header.boot.size()));
  return header.magic == kMagic && header.check == check_of(header) && boot != host.boot;
}

// In pieces: a signal undoes the work of one call. Neither the size nor the contents of the file change,
// also if the program has put another one in the place of the descriptor in this moment.
int allocate_in(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kPiece = 1U << 20;
  while (bytes > 0) {
    const std::uint64_t piece = std::min(bytes, kPiece);
    const int result =
        fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(piece));
    if (result != 0 && errno == EINTR) continue;
    if (result != 0) return errno;
    offset += piece;
    bytes -= piece;
  }
  return 0;
}

std::string read_boot() {
  Descriptor fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, sizeof(Header::boot)> text{};
  const ssize_t size = fd ? read(fd.get(), text.data(), text.size() - 1) : -1;
  if (size <= 0) base::throw_errno("read /proc/sys/kernel/random/boot_id", errno);
  std::string boot(text.data(), static_cast<std::size_t>(size));
  while (!boot.empty() && boot.back() == '\n') boot.pop_back();
  return boot;
}

}  // namespace

HostIdentity HostIdentity::present() {
  struct stat status {};
  const bool known = stat("/proc/self/ns/time", &status) == 0;
  return {.boot = read_boot(), .time_namespace = known ? status.st_ino : 0};
}

Segment::Segment(const Options& options, const HostIdentity& host) : file_(options) {
  for (int i = 0; i < kTries; ++i) {
    if (attach(host) || create(options, host)) return;
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
  }
  throw StoreError(
      StoreError::Kind::busy, StoreError::Outcome::nothing_happened,
      "shared memory " + file_.path() + ": other processes keep creating and removing it");
}

// What has the number of a descriptor that the program closed is another's.
Segment::~Segment() {
  const int fd = probe_;
  if (fd >= 0 && is_file(fd)) close(fd);
  if (base_ != nullptr) munmap(base_, layout_.size());
}

void Segment::check(const Header& header, std::uint64_t size, const HostIdentity& host) const {
  if (header.magic != kMagic) file_.refuse("not an airlock segment");
  if (header.byte_order != kByteOrder) file_.refuse("it has another byte order");
  if (header.version != kLayoutVersion) {
    file_.refuse("layout version " + std::to_string(header.version) + ", and this program has " +
                 std::to_string(kLayoutVersion) + "; docs/upgrade.md says what to do");
  }
  if (header.check != check_of(header)) file_.refuse("its header is damaged; remove it");
  if (header.fingerprint != fingerprint()) {
    file_.refuse("made by a build with other record sizes; use one build for all programs");
  }
  const bool sane = header.shards == kShards && header.scale > 0 && header.scale < 32 &&
                    Layout(header.scale).size() == header.size;
  if (!sane) file_.refuse("its header is damaged; remove it");
  if (size != header.size) file_.refuse("it was truncated; remove it");
  if (header.time_namespace != host.time_namespace) {
    file_.refuse("it belongs to another time namespace, whose clock is different");
  }
}

// False: there is none, there was one of an earlier boot, or somebody is about to remove it.
bool Segment::attach(const HostIdentity& host) {
  Descriptor fd = file_.open();
  if (!fd) return false;
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) base::throw_errno("fstat", errno);
  Header header;
  if (pread(fd.get(), static_cast<void*>(&header), sizeof(header), 0) != sizeof(header)) {
    file_.refuse(status.st_size == 0 ? "it is empty" : "not an airlock segment");
  }
  if (!File::ends_with_boot(fd)) {
    if (is_of_another_boot(header, host) && !File::is_used(fd)) {
      (void)file_.remove_unused(fd);
      return false;
    }
    if (!file_.keep_name(fd)) return false;
  }
  check(header, static_cast<std::uint64_t>(status.st_size), host);
  if (status.st_nlink == 0) return false;  // Removed meanwhile.
  layout_ = Layout(header.scale);
  map(fd.get());
  id_ = {status.st_dev, status.st_ino};
  probe_ = fd.release();
  return true;
}

void Segment::map(int fd) {
  void* const base = mmap(nullptr, layout_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) base::throw_errno("mmap", errno);
  madvise(base, layout_.size(), MADV_DONTDUMP);
  base_ = static_cast<std::byte*>(base);
}

// Nobody sees it before it is complete. False: somebody else was faster.
bool Segment::create(const Options& options, const HostIdentity& host) {
  layout_ = Layout::within(options.size);
  File::Unnamed made = file_.make();
  if (ftruncate(made.fd.get(), static_cast<off_t>(layout_.size())) != 0) {
    base::throw_errno("ftruncate", errno);
  }
  int error = allocate_in(made.fd.get(), 0, kPage);
  if (error == 0) {
    error = allocate_in(made.fd.get(), Layout::kControls, Layout::kRegions - Layout::kControls);
  }
  if (error == EOPNOTSUPP)
    file_.refuse("its file system cannot reserve memory (fallocate); dir= names another one");
  if (error != 0) base::throw_errno(("allocate memory for " + file_.path()).c_str(), error);
  map(made.fd.get());
  auto* header = new (base_) Header{.magic = kMagic,
                                    .version = kLayoutVersion,
                                    .byte_order = kByteOrder,
                                    .fingerprint = fingerprint(),
                                    .size = layout_.size(),
                                    .shards = kShards,
                                    .scale = layout_.scale(),
                                    .store = base::random64(),
                                    .seed = base::random64(),
                                    .boot = {},
                                    .time_namespace = host.time_namespace,
                                    .check = 0,
                                    .processes = 0,
                                    .last_probe = 0,
                                    .next_probe = 0};
  host.boot.copy(header->boot.data(), header->boot.size() - 1);
  header->check = check_of(*header);
  for (std::uint32_t i = 0; i < kShards; ++i) new (&control(i)) ShardControl{};
  const bool placed = file_.place(made);
  munmap(base_, layout_.size());
  base_ = nullptr;
  return placed && attach(host);
}

bool Segment::is_file(int fd) const noexcept {
  struct stat status {};
  return fstat(fd, &status) == 0 && FileId{status.st_dev, status.st_ino} == id_;
}

int Segment::probe() const noexcept {
  int seen = probe_;
  if (is_file(seen)) return seen;
  try {
    Descriptor fresh = reopen();
    if (!fresh) return -1;
    if (probe_.compare_exchange_strong(seen, fresh.get())) return fresh.release();
  } catch (const StoreError&) {
    return -1;
  }
  return is_file(seen) ? seen : -1;
}

int Segment::allocate(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return allocate_in(probe(), offset, bytes);
}

void Segment::give_back(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const std::uint64_t begin = (offset + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
  const std::uint64_t end = (offset + bytes) / kRegionAlignment * kRegionAlignment;
  if (begin >= end) return;
  // Without holes in its files a file system keeps the memory; nothing is wrong with that.
  (void)madvise(base_ + begin, end - begin, MADV_REMOVE);
}

Descriptor Segment::reopen() const {
  Descriptor fd = file_.open();
  if (!fd || File::id_of(fd.get()) != id_) return {};
  return fd;
}

std::string Segment::problem() const {
  const std::optional<FileId> present = file_.present();
  if (present == FileId{}) return "it was deleted";
  if (present && present != id_) return "another file has its name";
  struct stat status {};
  const int fd = probe();
  if (fd < 0 || fstat(fd, &status) != 0) return {};
  if (status.st_nlink == 0) return "it was deleted";
  if (static_cast<std::uint64_t>(status.st_size) < layout_.size()) return "it was truncated";
  return {};
}

bool remove_segment(const Options& options) {
  const File file(options);
  for (int i = 0; i < kTries; ++i) {
    const Descriptor fd = file.open();
    if (!fd) return false;
    if (file.remove(fd)) return true;
    std::this_thread::sleep_for(kBetweenTries);
  }
  throw StoreError(
      StoreError::Kind::busy, StoreError::Outcome::nothing_happened,
      "shared memory " + file.path() + ": other processes keep removing and creating it");
}

}  // namespace airlock::shm

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

Surroundings Surroundings::present() {
  struct stat status {};
  const bool known = stat("/proc/self/ns/time", &status) == 0;
  return {.boot = read_boot(), .time_namespace = known ? status.st_ino : 0};
}

Segment::Segment(const Options& options, const Surroundings& surroundings) : file_(options) {
  for (int i = 0; i < kTries; ++i) {
    if (attach(surroundings) || create(options, surroundings)) return;
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
  }
  throw StoreError(StoreError::Kind::busy, StoreError::Outcome::nothing_happened,
                   "shared memory " + file_.path() + ": others make and remove it all the time");
}

Segment::~Segment() {
  if (probe_ && !is_file(probe_.get()))
    (void)probe_.release();  // What has the number now is another's.
  if (base_ != nullptr) munmap(base_, layout_.size());
}

void Segment::check(const Header& header, std::uint64_t size,
                    const Surroundings& surroundings) const {
  if (header.magic != kMagic) file_.refuse("not an airlock segment");
  if (header.byte_order != kByteOrder) file_.refuse("it has another byte order");
  if (header.version != kLayoutVersion) {
    file_.refuse("layout version " + std::to_string(header.version) + ", and this program has " +
                 std::to_string(kLayoutVersion) + "; let all programs use one, then remove it");
  }
  if (header.check != check_of(header)) file_.refuse("its header is damaged; remove it");
  if (header.fingerprint != fingerprint()) {
    file_.refuse("made by a build with other record sizes; let all programs use one");
  }
  const bool sane = header.shards == kShards && header.scale > 0 && header.scale < 32 &&
                    Layout(header.scale).size() == header.size;
  if (!sane) file_.refuse("its header is damaged; remove it");
  if (size != header.size) file_.refuse("it was truncated; remove it");
  if (header.time_namespace != surroundings.time_namespace) {
    file_.refuse("it belongs to another time namespace, where time is not the same");
  }
}

// False: there is none, or there was one of an earlier boot.
bool Segment::attach(const Surroundings& surroundings) {
  Descriptor fd = file_.open();
  if (!fd) return false;
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) base::throw_errno("fstat", errno);
  Header header;
  if (pread(fd.get(), static_cast<void*>(&header), sizeof(header), 0) != sizeof(header)) {
    file_.refuse(status.st_size == 0 ? "it is empty" : "not an airlock segment");
  }
  const std::string_view boot(header.boot.data(), strnlen(header.boot.data(), header.boot.size()));
  if (header.magic == kMagic && header.check == check_of(header) && boot != surroundings.boot) {
    (void)file_.remove(fd);
    return false;
  }
  check(header, static_cast<std::uint64_t>(status.st_size), surroundings);
  if (status.st_nlink == 0) return false;  // Removed meanwhile.
  layout_ = Layout(header.scale);
  map(fd.get());
  id_ = {status.st_dev, status.st_ino};
  probe_ = std::move(fd);
  return true;
}

void Segment::map(int fd) {
  void* const base = mmap(nullptr, layout_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) base::throw_errno("mmap", errno);
  madvise(base, layout_.size(), MADV_DONTDUMP);
  base_ = static_cast<std::byte*>(base);
}

// Nobody sees it before it is complete. False: somebody else was faster.
bool Segment::create(const Options& options, const Surroundings& surroundings) {
  layout_ = Layout::within(options.size);
  File::Unnamed made = file_.make();
  if (ftruncate(made.fd.get(), static_cast<off_t>(layout_.size())) != 0) {
    base::throw_errno("ftruncate", errno);
  }
  probe_ = Descriptor(fcntl(made.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!probe_) base::throw_errno("dup", errno);
  id_ = File::id_of(probe_.get());
  if (!allocate(0, kPage) || !allocate(Layout::kControls, Layout::kRegions - Layout::kControls)) {
    probe_ = {};
    base::throw_errno(("allocate memory for " + file_.path()).c_str(), ENOSPC);
  }
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
                                    .time_namespace = surroundings.time_namespace,
                                    .check = 0,
                                    .deaths = 0,
                                    .processes = 0,
                                    .last_probe = 0};
  surroundings.boot.copy(header->boot.data(), header->boot.size() - 1);
  header->check = check_of(*header);
  for (std::uint32_t i = 0; i < kShards; ++i) new (&control(i)) ShardControl{};
  const bool placed = file_.place(made);
  munmap(base_, layout_.size());
  base_ = nullptr;
  probe_ = {};
  return placed && attach(surroundings);
}

bool Segment::is_file(int fd) const noexcept {
  struct stat status {};
  return fstat(fd, &status) == 0 && FileId{status.st_dev, status.st_ino} == id_;
}

bool Segment::allocate(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  if (!is_file(probe_.get())) return false;
  // In pieces: a signal undoes the work of one call.
  constexpr std::uint64_t kPiece = 1U << 20;
  while (bytes > 0) {
    const std::uint64_t piece = std::min(bytes, kPiece);
    const int result =
        fallocate(probe_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(piece));
    if (result != 0 && errno == EINTR) continue;
    if (result != 0) return false;
    offset += piece;
    bytes -= piece;
  }
  return true;
}

void Segment::give_back(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const std::uint64_t begin = (offset + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
  const std::uint64_t end = (offset + bytes) / kRegionAlignment * kRegionAlignment;
  if (begin >= end || !is_file(probe_.get())) return;
  // Without holes in its files a file system keeps the memory; nothing is wrong with that.
  (void)fallocate(probe_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(begin), static_cast<off_t>(end - begin));
}

Descriptor Segment::reopen() const {
  Descriptor fd = file_.open();
  if (!fd || File::id_of(fd.get()) != id_) return {};
  return fd;
}

std::string Segment::whereabouts() const {
  if (!is_file(probe_.get())) return "this process has closed descriptors that it did not open";
  struct stat status {};
  if (fstat(probe_.get(), &status) == 0 && status.st_nlink == 0) return "it was deleted";
  if (file_.present() != id_) return "another file has its name";
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
  throw StoreError(StoreError::Kind::busy, StoreError::Outcome::nothing_happened,
                   "shared memory " + file.path() + ": others remove and make it all the time");
}

}  // namespace airlock::shm

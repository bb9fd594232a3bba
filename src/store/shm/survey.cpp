#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/shm.hpp"
#include "store/shm/folder.hpp"
#include "store/shm/segment.hpp"
#include "store/uri.hpp"

// Reads segments with pread() alone: nothing is mapped, locked or written, so that a segment of
// another user, of another version or in any state can be looked at.

namespace airlock {
namespace {

using base::Descriptor;
using shm::Header;
using shm::Layout;

constexpr const char* kShared = "/dev/shm";
constexpr std::string_view kFolder = "airlock-";

std::string text_of(int error) { return std::generic_category().message(error); }

// Objects of a type that has atomics, as they are in the file. False: it ends before.
template <typename T>
bool read_at(const Descriptor& fd, std::uint64_t offset, T* to, std::size_t count) {
  const std::size_t size = count * sizeof(T);
  return pread(fd.get(), static_cast<void*>(to), size, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(size);
}

// Whether any process has one of the byte locks. What cannot be asked counts as locked.
bool is_locked(const Descriptor& fd, std::uint32_t first, std::uint32_t count) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(shm::kLocks + first);
  lock.l_len = count;
  return fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::string problem_of(const Header& header, const struct stat& status) {
  if (header.magic != shm::kMagic) return "not an airlock segment";
  if (header.version != shm::kLayoutVersion) {
    return "layout version " + std::to_string(header.version) + ", and this program has " +
           std::to_string(shm::kLayoutVersion);
  }
  const bool fits = header.fingerprint == shm::fingerprint() && header.scale > 0 &&
                    header.scale < 32 && Layout(header.scale).size() == header.size &&
                    static_cast<std::uint64_t>(status.st_size) == header.size;
  return fits ? "" : "made by another build, or damaged";
}

void count_processes(const Descriptor& fd, std::uint32_t records, ShmSegment& segment) {
  for (std::uint32_t number = 0; number < std::min(records, shm::kMaxProcesses); ++number) {
    shm::ProcessRecord record{};
    const std::uint64_t offset = Layout::kProcesses + number * sizeof(record);
    if (!read_at(fd, offset, &record, 1) || record.live.load() == 0) continue;
    ++(is_locked(fd, number, 1) ? segment.living : segment.dead);
  }
}

void count_gates(const Descriptor& fd, const Layout& layout, std::uint32_t shard,
                 ShmSegment& segment) {
  const auto control = std::make_unique<shm::ShardControl>();
  const std::uint64_t offset = Layout::kControls + shard * sizeof(shm::ShardControl);
  if (!read_at(fd, offset, control.get(), 1)) return;
  for (std::uint32_t number = 0; number < control->head.gates.extents.get(); ++number) {
    const Layout::ByteRange range = layout.extent(shard, model::Region::gates, number);
    if (range.bytes == 0) return;
    std::vector<model::Gate> gates(range.bytes / sizeof(model::Gate));
    if (!read_at(fd, range.offset, gates.data(), gates.size())) return;
    for (const model::Gate& gate : gates) {
      if (gate.is_free()) continue;
      ++segment.gates;
      segment.holders += gate.holders;
    }
  }
}

void read_contents(const Descriptor& fd, const struct stat& status, ShmSegment& segment) {
  Header header{};
  if (!read_at(fd, 0, &header, 1)) {
    segment.problem = "not an airlock segment";
    return;
  }
  segment.problem = problem_of(header, status);
  if (!segment.problem.empty()) {
    segment.living = is_locked(fd, 0, shm::kMaxProcesses) ? 1 : 0;
    return;
  }
  count_processes(fd, header.processes.load(), segment);
  const Layout layout(header.scale);
  for (std::uint32_t shard = 0; shard < shm::kShards; ++shard) {
    count_gates(fd, layout, shard, segment);
  }
}

ShmSegment survey(const std::string& folder, const std::string& name) {
  ShmSegment segment{.name = name, .path = folder + '/' + name};
  struct stat status {};
  if (lstat(segment.path.c_str(), &status) != 0) {
    segment.problem = text_of(errno);
    return segment;
  }
  segment.owner = status.st_uid;
  segment.bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
  const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const Descriptor fd(S_ISREG(status.st_mode) ? open(segment.path.c_str(), flags) : -1);
  if (fd) {
    read_contents(fd, status, segment);
  } else {
    segment.problem = S_ISREG(status.st_mode) ? text_of(errno) : "not a regular file";
  }
  return segment;
}

struct Listing {
  std::vector<std::string> names = {};  // Without hidden ones.
  int error = 0;
};

Listing entries_of(const std::string& folder) {
  const auto close = [](DIR* dir) { closedir(dir); };
  const std::unique_ptr<DIR, decltype(close)> dir(opendir(folder.c_str()), close);
  if (!dir) return {.error = errno};
  Listing listing;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's own
  while (const dirent* const entry = readdir(dir.get())) {
    if (entry->d_name[0] != '.') listing.names.emplace_back(entry->d_name);
  }
  std::ranges::sort(listing.names);
  return listing;
}

void add_segments(const std::string& folder, std::vector<ShmSegment>& found) {
  const Listing listing = entries_of(folder);
  for (const std::string& name : listing.names) found.push_back(survey(folder, name));
  if (listing.error == 0 || listing.error == ENOENT) return;
  struct stat status {};
  (void)stat(folder.c_str(), &status);
  found.push_back({.name = "?",
                   .path = folder + "/?",
                   .owner = status.st_uid,
                   .problem = text_of(listing.error)});
}

shm::Options options_of(std::string_view uri) {
  const Uri parsed = Uri::parse(uri);
  if (parsed.store() != StoreKind::shm) {
    throw InvalidArgument("store URI: " + parsed.scheme() + ": is not shared memory");
  }
  return shm::Options::from(parsed);
}

}  // namespace

bool remove_shm_store(std::string_view uri) {
  return has_shm_store(uri) && shm::remove_segment(options_of(uri));
}

bool has_shm_store(std::string_view uri) {
  const shm::Options options = options_of(uri);
  const std::string path = shm::Folder(options).path() + '/' + options.name;
  struct stat status {};
  // What cannot be looked at is left to whoever opens it, which says why.
  return lstat(path.c_str(), &status) == 0 || errno != ENOENT;
}

std::vector<ShmSegment> list_shm_stores(std::string_view uri) {
  std::vector<ShmSegment> found;
  add_segments(shm::Folder(options_of(uri)).path(), found);
  return found;
}

std::vector<ShmSegment> list_all_shm_stores() {
  std::vector<ShmSegment> found;
  for (const std::string& name : entries_of(kShared).names) {
    if (name.starts_with(kFolder)) add_segments(std::string(kShared) + '/' + name, found);
  }
  return found;
}

}  // namespace airlock

#include "store/shm/examine.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "base/posix.hpp"

namespace airlock::shm {
namespace {

using Level = Finding::Level;

constexpr std::uint64_t kNearlyFull = 80;  // Percent.
constexpr std::uint64_t kLittle = 16 << 20;
constexpr std::chrono::hours kRecently{1};
constexpr const char* kMakeLarger =
    "stop its users, delete the file, and give the first program that opens it a larger size=";

std::string bytes(std::uint64_t count) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; count >= 10'240 && unit + 1 < kUnits.size(); ++unit) count /= 1024;
  return std::to_string(count) + " " + kUnits[unit];
}

// Who may do what with it, as `ls -n` would say it.
std::string rights(const struct stat& status) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "mode %04o, uid %u, gid %u", status.st_mode & 07777U,
                status.st_uid, status.st_gid);
  return text.data();
}

Finding place(const File& file, int fd) {
  struct stat folder {};
  struct stat status {};
  if (stat(file.folder().c_str(), &folder) != 0) base::throw_errno("stat", errno);
  if (fstat(fd, &status) != 0) base::throw_errno("fstat", errno);
  return {Level::good, "segment " + file.path() + " (" + rights(status) + ") in a folder with " +
                           rights(folder)};
}

Finding file_system(const struct statfs& where) {
  if (where.f_type == TMPFS_MAGIC) return {Level::good, "it is on tmpfs"};
  return {Level::warning, "it is not on tmpfs: the system writes its pages to a disk",
          "put it below /dev/shm or /run with dir="};
}

Finding memory(const Segment& segment, const struct statfs& where) {
  struct stat status {};
  if (fstat(segment.probe(), &status) != 0) base::throw_errno("fstat", errno);
  const std::uint64_t left =
      static_cast<std::uint64_t>(where.f_bavail) * static_cast<std::uint64_t>(where.f_bsize);
  std::string what = "takes " + bytes(static_cast<std::uint64_t>(status.st_blocks) * 512) +
                     ", may grow to " + bytes(segment.layout().size());
  // A tmpfs without a limit says that there is nothing.
  if (where.f_blocks == 0 || left >= kLittle) return {Level::good, std::move(what)};
  return {Level::warning, what + ", and its file system has " + bytes(left) + " left",
          "free some (df " + segment.file().folder() +
              "), or remount it with a larger size=; without memory new visitors are refused"};
}

Finding pools(const Fullness& fullness) {
  const std::string what = "its fullest pool, of " + std::string(fullness.pool()) + ", is " +
                           std::to_string(fullness.percent()) + " % full";
  if (fullness.percent() < kNearlyFull) return {Level::good, what};
  return {Level::warning, what + "; when it is full, new visitors are refused", kMakeLarger};
}

void processes(const Process& process, std::vector<Finding>& findings) {
  const Process::Counts counts = process.counts();
  const std::string count =
      std::to_string(counts.living) + " of at most " + std::to_string(kMaxProcesses);
  if (std::uint64_t{counts.living} * 100 < kMaxProcesses * kNearlyFull) {
    findings.push_back({Level::good, "processes that use it: " + count});
  } else {
    findings.push_back({Level::warning, "processes that use it: " + count,
                        "spread them over several segments: shm:NAME"});
  }
  if (counts.dead == 0) return;
  const auto ago = std::chrono::floor<std::chrono::seconds>(counts.since_last_death);
  std::string what = std::to_string(counts.dead) + " processes died without leaving, the last " +
                     to_text(ago) + " ago";
  if (ago >= kRecently) return findings.push_back({Level::good, std::move(what)});
  findings.push_back(
      {Level::warning, std::move(what),
       "nothing is lost: what they held is taken back; if it continues, find out what "
       "kills them (dmesg: out of memory)"});
}

}  // namespace

void Fullness::add(std::string_view pool, model::Region region,
                   const model::PoolHead& head) noexcept {
  std::uint64_t used = 0;
  for (const auto& extent : head.extent) used += extent.used;
  const std::uint64_t percent = used * 100 / layout_.capacity(region);
  if (percent <= percent_) return;
  percent_ = percent;
  pool_ = pool;
}

void Fullness::add(const model::ShardHead& shard) noexcept {
  add("gates", model::Region::gates, shard.gates);
  add("visitors", model::Region::visits, shard.visits);
  add("rates", model::Region::tiers, shard.tiers);
  add("pauses", model::Region::pauses, shard.pauses);
  add("slots", model::Region::slots, shard.slots);
}

std::vector<Finding> examine(const Segment& segment, const Process& process,
                             const Fullness& fullness) {
  struct statfs where {};
  if (fstatfs(segment.probe(), &where) != 0) base::throw_errno("fstatfs", errno);
  std::vector<Finding> findings;
  findings.push_back(place(segment.file(), segment.probe()));
  findings.push_back(file_system(where));
  findings.push_back({Level::good, "it has layout version " + std::to_string(kLayoutVersion) +
                                       ", and is of this boot and this time namespace"});
  findings.push_back(memory(segment, where));
  findings.push_back(pools(fullness));
  processes(process, findings);
  return findings;
}

}  // namespace airlock::shm

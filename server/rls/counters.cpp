#include "rls/counters.hpp"

#include <algorithm>
#include <mutex>
#include <ostream>
#include <utility>

#include "rls/part.hpp"

namespace airlock::server::rls {
namespace {

constexpr std::uint64_t kNearTenths = 8;  // Near the limit: above 0.8 of it.
constexpr std::size_t kMaxLabel = 200;

// Of the hits that were let through, those above that part of the limit.
std::uint64_t near_hits(const Part& part) {
  if (!part.asks_store()) return 0;
  const std::uint64_t limit = part.limit();
  const std::uint64_t used = limit - std::min<std::uint64_t>(limit, part.remaining);
  const std::uint64_t near = limit * kNearTenths / 10;
  return used <= near ? 0 : std::min<std::uint64_t>(part.hits, used - near);
}

// Names may have any bytes; a label is UTF-8.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxLabel)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c < ' ' || c > '~' ? '?' : c;
  }
  return out;
}

}  // namespace

// By its label: no two series have the same.
Counters::Tally& Counters::tally(const std::string& path, bool has_own_path) {
  std::string name = label(path);
  {
    const std::shared_lock lock(mutex_);
    const auto found = tallies_.find(name);
    if (found != tallies_.end()) return found->second;
    if (has_own_path && own_paths_ >= kMaxSeries) return other_;
  }
  const std::unique_lock lock(mutex_);
  const auto [at, is_new] = tallies_.try_emplace(std::move(name));
  if (is_new && has_own_path) ++own_paths_;
  return at->second;
}

void Counters::count(const Part& part, bool passes) {
  if (part.kind == Part::Kind::unmatched || part.gives_back || part.hits == 0) return;
  Tally& tally = this->tally(part.path, part.has_own_path);
  tally.total += part.hits;
  if (part.is_over) {
    tally.over += part.hits;
    if (part.is_shadow) tally.shadow += part.hits;
  } else if (passes) {
    tally.within += part.hits;
    tally.near += near_hits(part);
  }
}

void Counters::write(std::ostream& out,
                     const std::function<bool(std::string_view limit)>& shows) const {
  const std::shared_lock lock(mutex_);
  const auto metric = [&](const char* name, const char* help, Number Tally::*number) {
    out << "# HELP airlock_rls_" << name << " " << help << "\n# TYPE airlock_rls_" << name
        << " counter\n";
    for (const auto& [limit, tally] : tallies_) {
      if (shows(limit))
        out << "airlock_rls_" << name << "{limit=\"" << limit << "\"} " << tally.*number << "\n";
    }
    if (other_.total != 0)
      out << "airlock_rls_" << name << "{limit=\"other\"} " << other_.*number << "\n";
  };
  metric("hits_total", "Hits that descriptors were asked for.", &Tally::total);
  metric("within_limit_total", "Hits that were let through.", &Tally::within);
  metric("near_limit_total", "Hits let through above 0.8 of the limit.", &Tally::near);
  metric("over_limit_total", "Hits over the limit.", &Tally::over);
  metric("shadow_mode_total", "Hits over a limit in shadow mode, let through.", &Tally::shadow);
  out << "# HELP airlock_rls_unknown_domain_total Requests for domains without descriptors.\n"
         "# TYPE airlock_rls_unknown_domain_total counter\nairlock_rls_unknown_domain_total "
      << unknown_domains_ << "\n";
}

}  // namespace airlock::server::rls

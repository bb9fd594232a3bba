#include "store/redis/pending_releases.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace airlock::redis {
namespace {

bool is_same(const Token& a, const Token& b) {
  return a.visitor == b.visitor && a.fence == b.fence;
}

}  // namespace

bool PendingReleases::add(const Token& token, Instant until, bool by_next_step) noexcept try {
  const base::LockGuard lock(mutex_);
  gates_[token.gate.text()].push_back({token, until, by_next_step});
  if (by_next_step) ++for_next_step_;
  first_end_ = std::min(first_end_, until);
  ++count_;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

PendingReleases::Load PendingReleases::pick_up(std::span<const GateName> gates, Which which,
                                               bool with_others, Instant now) {
  Load load;
  load.from_ = this;
  const base::LockGuard lock(mutex_);
  if (now >= first_end_) drop_expired(now);
  for (const GateName& gate : gates) {
    const auto found = gates_.find(gate.view());
    if (found == gates_.end()) continue;
    for (Release& release : found->second) pick_up(release, which, load);
  }
  if (!with_others || for_next_step_ == 0) return load;
  for (auto& [name, releases] : gates_) {
    const auto is_this = [&text = name](const GateName& gate) { return gate.view() == text; };
    if (std::ranges::any_of(gates, is_this)) continue;
    for (Release& release : releases) {
      if (release.by_next_step) pick_up(release, which, load);
    }
  }
  return load;
}

void PendingReleases::pick_up(Release& release, Which which, Load& load) {
  const bool is_own = release.thread == std::this_thread::get_id();
  if (release.carried != 0 && !is_own && which == Which::few) {
    load.is_complete_ = false;
    return;
  }
  load.tokens_.push_back(release.token);
  ++release.carried;
}

void PendingReleases::put_down(const std::vector<Token>& tokens) noexcept {
  const base::LockGuard lock(mutex_);
  for (const Token& token : tokens) {
    if (Release* const release = find(token)) --release->carried;
  }
}

std::vector<Token> PendingReleases::left_to_next_step() {
  const base::LockGuard lock(mutex_);
  std::vector<Token> tokens;
  for (const auto& [gate, releases] : gates_) {
    for (const Release& release : releases) {
      if (release.by_next_step) tokens.push_back(release.token);
    }
  }
  return tokens;
}

PendingReleases::Release* PendingReleases::find(const Token& token) noexcept {
  const auto gate = gates_.find(token.gate.view());
  if (gate == gates_.end()) return nullptr;
  for (Release& release : gate->second) {
    if (is_same(release.token, token)) return &release;
  }
  return nullptr;
}

PendingReleases::State PendingReleases::state_of(const Token& token) {
  const base::LockGuard lock(mutex_);
  const Release* const release = find(token);
  if (release == nullptr) return State::over;
  return release->carried == 0 ? State::waiting : State::carried;
}

template <typename Over>
PendingReleases::Gates::iterator PendingReleases::drop_if(Gates::iterator gate, const Over& over) {
  count_ -= std::erase_if(gate->second, [&](const Release& release) AIRLOCK_REQUIRES(mutex_) {
    if (!over(release)) return false;
    if (release.by_next_step) --for_next_step_;
    return true;
  });
  return gate->second.empty() ? gates_.erase(gate) : std::next(gate);
}

void PendingReleases::confirm(const Token& token) noexcept {
  const base::LockGuard lock(mutex_);
  const auto gate = gates_.find(token.gate.view());
  if (gate == gates_.end()) return;
  drop_if(gate, [&](const Release& release) { return is_same(release.token, token); });
}

// What has ended by itself.
void PendingReleases::drop_expired(Instant now) {
  first_end_ = kForever;
  for (auto gate = gates_.begin(); gate != gates_.end();) {
    gate = drop_if(gate, [&](const Release& release) AIRLOCK_REQUIRES(mutex_) {
      if (release.until <= now) return true;
      first_end_ = std::min(first_end_, release.until);
      return false;
    });
  }
}

}  // namespace airlock::redis

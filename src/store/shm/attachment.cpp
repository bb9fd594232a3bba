#include "store/shm/attachment.hpp"

#include <algorithm>

#include "airlock/error.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "base/label.hpp"
#include "base/thread.hpp"

namespace airlock::shm {

namespace {

constexpr std::size_t kMaxEarlier = 1024;  // Segments lost in a row whose tokens are still known.

}  // namespace

Attachment* Attachment::make(const Options& options, const HostIdentity& host,
                             const Attachment* before) {
  const std::shared_ptr<Attachment> attachment(new Attachment(options, host, before));
  attachment->self_ = attachment;
  return attachment.get();
}

Attachment::Attachment(const Options& options, const HostIdentity& host, const Attachment* before)
    : segment_(options, host),
      process_(segment_),
      id_(segment_.header().store),
      seed_(segment_.header().seed) {
  segment_.release_name();
  if (before != nullptr) take_over(*before);
  if (watchers_ == nullptr) watchers_ = std::make_shared<Watchers>();
  const model::Label label(base::default_label());
  for (std::uint32_t i = 0; i < kShards; ++i) {
    views.push_back(std::make_unique<ShardView>(segment_, process_, i, label));
  }
}

Attachment::~Attachment() = default;

void Attachment::take_over(const Attachment& before) {
  earlier_ = before.earlier_;
  if (before.id() != id()) earlier_.push_back(before.id());
  if (earlier_.size() > kMaxEarlier) earlier_.erase(earlier_.begin());
  if (!before.is_inherited()) watchers_ = before.watchers_;
}

void Attachment::close() noexcept {
  stopping_ = true;
  if (thread_.joinable()) {
    wake_thread();
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();  // It ends as soon as its callback returns.
    } else {
      thread_.join();
    }
  }
  const std::shared_ptr<Attachment> last = std::move(self_);
}

void Attachment::abandon() noexcept {
  lost_ = true;
  wake_thread();
}

void Attachment::wake_thread() noexcept {
  process_.record().news.fetch_add(1);
  base::futex_wake(process_.record().news, 1);
}

bool Attachment::knows(StoreId id) const noexcept {
  return id == this->id() || std::ranges::find(earlier_, id) != earlier_.end();
}

void Attachment::lose(const std::string& why) {
  lost_ = true;
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
                   "shared memory " + segment_.file().path() + ": " + why +
                       "; leases that were in it are lost. systemd deletes what a user has in "
                       "/dev/shm at logout unless logind.conf says RemoveIPC=no");
}

void Attachment::check_now(model::Micros now) {
  last_check_ = now;
  const std::string problem = process_.problem();
  if (!problem.empty()) lose(problem);
}

void Attachment::listen() {
  const base::LockGuard lock(starting_);
  if (started_) return;
  start_thread();
  started_ = true;
}

void Attachment::start_thread() {
  listens_ = true;
  try {
    thread_ = base::start_thread("airlock-shm", [attachment = self_] {
      attachment->run();
      attachment->listens_.store(false, std::memory_order_release);
    });
  } catch (...) {
    listens_ = false;
    throw;
  }
}

void Attachment::call_told() noexcept {
  ProcessRecord& record = process_.record();
  for (auto& notice : record.notices) {
    // It stays until the callback has run, so that it can be seen when all have.
    std::uint32_t number = notice.load(std::memory_order_acquire);
    if (number == 0) continue;
    watchers_->call(number - 1);
    notice.compare_exchange_strong(number, 0);
  }
  if (record.overflow.load() != 0 && record.overflow.exchange(0) != 0) watchers_->call_all();
}

// The word is read before the notices: a notice that comes later changes it.
void Attachment::run() noexcept {
  Instant next_check = Clock::system().now() + kBetweenChecks;
  while (true) {
    const std::uint32_t seen = process_.record().news.load();
    call_told();
    if (stopping_ || is_inherited()) return;
    const Instant now = Clock::system().now();
    if (now >= next_check) {
      next_check = now + kBetweenChecks;
      process_.look_in_turn();
      if (!process_.problem().empty()) lost_ = true;
    }
    if (lost_) return watchers_->call_all();
    base::futex_wait(process_.record().news, seen, next_check - now);
  }
}

void Attachment::deliver(const ShardView::Told& told) noexcept {
  for (std::size_t i = 0; i < told.word_count; ++i) base::futex_wake(*told.words[i], 1);
  if (told.own_count > ShardView::Told::kMost) return watchers_->call_all();
  for (std::size_t i = 0; i < told.own_count; ++i) watchers_->call(told.own[i]);
}

}  // namespace airlock::shm

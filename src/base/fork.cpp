#include "base/fork.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

namespace airlock::base {

constinit std::atomic<std::atomic<std::uint64_t>*> fork_detail::g_word{nullptr};

namespace {

using fork_detail::g_word;
using PublishedField = std::atomic<std::uint64_t>;

constexpr std::size_t kPageSize = 4096;

constinit PublishedField g_word_without_page{0};
constinit PublishedField g_last{0};

PublishedField* wiped_on_fork() noexcept {
  void* page = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, kPageSize, MADV_WIPEONFORK) != 0) {
    munmap(page, kPageSize);
    return nullptr;
  }
  return new (page) PublishedField(0);
}

void forget() noexcept { g_word.load(std::memory_order_acquire)->store(0); }

// No function-local static: a fork while another thread initialises one would hang the child.
PublishedField* allocate_word() noexcept {
  PublishedField* const page = wiped_on_fork();
  PublishedField* word = nullptr;
  if (!g_word.compare_exchange_strong(word, page != nullptr ? page : &g_word_without_page)) {
    if (page != nullptr) munmap(page, kPageSize);
    return word;
  }
  pthread_atfork(nullptr, nullptr, forget);
  return g_word.load();
}

}  // namespace

// Above everything that the forking thread can have seen, because g_last is raised first and copied
// by fork().
std::uint64_t fork_detail::begin_generation() noexcept {
  PublishedField* word = g_word.load(std::memory_order_acquire);
  if (word == nullptr) word = allocate_word();
  std::uint64_t seen = 0;
  const std::uint64_t fresh = g_last.fetch_add(1) + 1;
  return word->compare_exchange_strong(seen, fresh) ? fresh : seen;
}

}  // namespace airlock::base

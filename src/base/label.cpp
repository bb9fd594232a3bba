#include "base/label.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "airlock/token.hpp"
#include "base/descriptor.hpp"
#include "base/fork.hpp"

namespace airlock::base {
namespace {

// Never freed, because somebody may still hold the text; the chain keeps old ones reachable for
// leak checkers.
struct Label {
  std::uint64_t generation;
  std::string text;
  const Label* previous;
};

constinit std::atomic<const Label*> g_label{nullptr};

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

// Not the name of the calling thread: that of the process, at most 15 bytes.
std::string process_name() {
  std::array<char, 32> name{};
  const Descriptor fd(open("/proc/self/comm", O_RDONLY | O_CLOEXEC));
  if (!fd) return "?";
  const ssize_t size = read(fd.get(), name.data(), name.size());
  std::string text(name.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "?" : text;
}

std::string make_text() {
  const std::string tail = ':' + std::to_string(getpid()) + ' ' + process_name();
  std::string text = host_name().substr(0, kMaxLabelSize - tail.size()) + tail;
  for (char& byte : text) {
    if (byte < ' ' || byte > '~') byte = '?';
  }
  return text;
}

const Label* publish(const Label* current, std::uint64_t generation) {
  std::unique_ptr<const Label> fresh(new Label{generation, make_text(), current});
  if (!g_label.compare_exchange_strong(current, fresh.get())) return current;
  return fresh.release();
}

}  // namespace

std::string_view default_label() {
  const std::uint64_t generation = fork_generation();
  const Label* label = g_label.load(std::memory_order_acquire);
  if (label == nullptr || label->generation != generation) label = publish(label, generation);
  return label->text;
}

}  // namespace airlock::base

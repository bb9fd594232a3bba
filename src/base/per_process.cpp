#include "base/per_process.hpp"

#include <new>

namespace airlock::base {
namespace {

struct Node {
  void* inherited;
  Node* next;
};

constinit std::atomic<Node*> g_inherited{nullptr};

}  // namespace

void leave_alone(void* inherited) noexcept {
  auto* const node = new (std::nothrow) Node{inherited, g_inherited.load()};
  if (node == nullptr) return;
  while (!g_inherited.compare_exchange_weak(node->next, node)) {
  }
}

}  // namespace airlock::base

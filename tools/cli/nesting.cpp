#include "nesting.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "airlock/error.hpp"

namespace airlock::cli {
namespace {

constexpr const char* kVariable = "AIRLOCK_TOKENS";

std::string_view outer_text() {
  const char* const text = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): never set
  return text != nullptr ? text : "";
}

std::optional<Token> parse(std::string_view text) {
  try {
    return Token::parse(text);
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

std::uint64_t weight_of(const std::vector<Token>& tokens, const GateView& view) {
  std::uint64_t weight = 0;
  for (const HolderView& holder : view.holders) {
    const auto is_holder = [&](const Token& token) {
      return token.visitor == holder.visitor && token.fence == holder.fence;
    };
    if (std::any_of(tokens.begin(), tokens.end(), is_holder)) weight += holder.weight;
  }
  return weight;
}

std::uint32_t effective_limit(const GateView& view, const Standing& standing) {
  const std::uint32_t limit = view.override_limit.value_or(standing.limit);
  return standing.is_lock ? std::min(limit, standing.limit) : limit;
}

bool is_in_order(Order order) { return order == Order::fifo || order == Order::priority; }

}  // namespace

std::vector<Token> outer_tokens() {
  std::vector<Token> tokens;
  for (std::string_view rest = outer_text(); !rest.empty();) {
    const std::string_view text = rest.substr(0, rest.find(' '));
    if (const std::optional<Token> token = parse(text)) tokens.push_back(*token);
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  }
  return tokens;
}

std::string tokens_variable(const std::string& innermost) {
  std::string text(outer_text());
  if (!text.empty()) text += ' ';
  return std::string(kVariable) + '=' + text + innermost;
}

bool waits_for_outer(const Store& store, const Standing& standing) {
  std::vector<Token> tokens = outer_tokens();
  std::erase_if(tokens, [&](const Token& token) { return token.gate != standing.gate; });
  if (tokens.empty()) return false;
  const std::optional<GateView> view = store.look(standing.gate);
  if (!view) return false;
  const std::uint64_t held = weight_of(tokens, *view);
  if (held == 0) return false;
  const std::uint32_t limit = effective_limit(*view, standing);
  if (held + standing.weight > limit) return true;
  if (!is_in_order(view->order)) return false;
  const std::size_t ahead = std::min<std::size_t>(standing.position - 1, view->line.size());
  return std::any_of(view->line.begin(), view->line.begin() + static_cast<std::ptrdiff_t>(ahead),
                     [&](const WaiterView& waiter) { return held + waiter.weight > limit; });
}

}  // namespace airlock::cli

#include "store/redis/gate_names.hpp"

#include <algorithm>

#include "store/redis/store_time.hpp"

namespace airlock::redis {
namespace {

void add_names(Client& client, Node& node, const Naming& naming, const Options& options,
               std::vector<std::string>& names) {
  std::string cursor = "0";
  do {
    Commands commands;
    commands.add_all({"SCAN", cursor, "MATCH", naming.gate_pattern(), "COUNT", "256"});
    const Reply reply = client.ask(node, commands, step_deadline(options));
    cursor = reply.at(0).text();
    const Reply keys = reply.at(1);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::string name = naming.gate_of(keys.at(i).text()); !name.empty()) {
        names.push_back(std::move(name));
      }
    }
  } while (cursor != "0" && !cursor.empty());
}

}  // namespace

std::vector<GateName> scan_gates(Client& client, const Naming& naming, const Options& options) {
  std::vector<std::string> names;
  for (const NodePtr& node : client.nodes(step_deadline(options))) {
    add_names(client, *node, naming, options, names);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // SCAN may say one twice.
  std::vector<GateName> gates;
  gates.reserve(names.size());
  for (const std::string& name : names) {
    try {
      gates.emplace_back(name);
    } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch): somebody else's
    }
  }
  return gates;
}

}  // namespace airlock::redis

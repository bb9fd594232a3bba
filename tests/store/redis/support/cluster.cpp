#include "store/redis/support/cluster.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace airlock::testing {
namespace {

constexpr std::size_t kSlots = 16'384;
constexpr const char* kHost = "127.0.0.1";

}  // namespace

RedisCluster::RedisCluster(std::vector<std::string> options) : options_(std::move(options)) {
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_.push_back(
        std::make_unique<RedisProcess>(redis::Address{.host = kHost, .port = ports_[i].number()}));
    start_node(i);
    ids_[i] = nodes_[i]->command({"CLUSTER", "MYID"});
    expect_ok(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  const auto first_slot = [](std::size_t i) { return i * kSlots / kPrimaries; };
  const auto wait_until_known = [&](std::size_t i, std::size_t owner) {
    wait_until("all know who has the slots",
               [&] { return is_known(static_cast<Slot>(first_slot(i)), owner); });
  };
  // A new primary takes two seconds before it lets anybody write; a replica that takes over does
  // not.
  for (std::size_t i = 0; i < kPrimaries; ++i) {
    expect_ok(kPrimaries + i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot(i)),
                               std::to_string(first_slot(i + 1) - 1)});
  }
  introduce_nodes();
  for (std::size_t i = 0; i < kPrimaries; ++i) wait_until_known(i, kPrimaries + i);
  for (std::size_t i = 0; i < kPrimaries; ++i) {
    expect_ok(i, {"CLUSTER", "REPLICATE", ids_[kPrimaries + i]});
  }
  for (std::size_t i = 0; i < kPrimaries; ++i) {
    wait_until("a replica is in sync", [&] { return is_content(i); });
    expect_ok(i, {"CLUSTER", "FAILOVER", "TAKEOVER"});
    wait_until_known(i, i);
  }
  wait_until_ready();
}

void RedisCluster::start_node(std::size_t i) {
  std::vector<std::string> words = forgetful_in(dir_.path() + "/node" + std::to_string(i));
  words.insert(words.end(), {"--port", ports_[i].text(), "--bind", kHost,  //
                             "--cluster-enabled", "yes",                   //
                             "--cluster-port", ports_[kNodes + i].text(),  //
                             "--cluster-node-timeout", "1000",             //
                             "--cluster-allow-replica-migration", "no",    //
                             "--repl-diskless-sync", "no",                 //
                             "--repl-ping-replica-period", "1"});
  words.insert(words.end(), options_.begin(), options_.end());
  nodes_[i]->start(words);
}

void RedisCluster::introduce_nodes() {
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      expect_ok(i, {"CLUSTER", "MEET", kHost, ports_[j].text(), ports_[kNodes + j].text()});
    }
  }
  wait_until("the nodes have met", [this] {
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (!knows_all(i)) return false;
    }
    return true;
  });
}

void RedisCluster::expect_ok(std::size_t i, const std::vector<std::string>& words) const {
  const std::string said = nodes_[i]->command(words);
  if (said == "OK") return;
  std::string text;
  for (const std::string& word : words) text += word + " ";
  throw std::runtime_error(text + "at node " + std::to_string(i) + ": " + said);
}

std::string RedisCluster::uri(const std::string& options) const {
  return std::string("redis+cluster://") + kHost + ":" + ports_[0].text() + "," + kHost + ":" +
         ports_[1].text() + (options.empty() ? "" : "?" + options);
}

// --- what nodes say ---

bool RedisCluster::View::is(std::string_view flag) const {
  std::istringstream all(flags);
  for (std::string one; std::getline(all, one, ',');) {
    if (one == flag) return true;
  }
  return false;
}

// `0-99 200 [300-<-id]`: what is in brackets is on its way.
bool RedisCluster::View::has(Slot slot) const {
  std::istringstream all(slots);
  for (std::string range; all >> range;) {
    if (range.starts_with('[')) continue;
    const std::size_t dash = range.find('-');
    const int first = std::stoi(range);
    const int last = dash == std::string::npos ? first : std::stoi(range.substr(dash + 1));
    if (first <= slot && slot <= last) return true;
  }
  return false;
}

std::vector<RedisCluster::View> RedisCluster::views_of(std::size_t i) const {
  std::vector<View> views;
  for (const std::string& line : lines_of(nodes_[i]->try_command({"CLUSTER", "NODES"}))) {
    View view;
    std::string address;
    std::string ping;
    std::string pong;
    std::istringstream in(line);
    in >> view.id >> address >> view.flags >> view.primary >> ping >> pong >> view.epoch >>
        view.link;
    std::getline(in, view.slots);
    views.push_back(std::move(view));
  }
  return views;
}

RedisCluster::View RedisCluster::own_view(std::size_t i) const {
  for (View& view : views_of(i)) {
    if (view.is("myself")) return std::move(view);
  }
  return {};
}

bool RedisCluster::knows_all(std::size_t i) const {
  const std::vector<View> views = views_of(i);
  return views.size() == kNodes && std::ranges::all_of(views, [](const View& view) {
           return view.link == "connected" && !view.is("handshake") && !view.is("fail") &&
                  !view.is("fail?");
         });
}

// Who has which slots, and who copies whom.
std::string RedisCluster::map_of(std::size_t i) const {
  std::vector<std::string> lines;
  for (const View& view : views_of(i)) {
    lines.push_back(view.id + " " + view.primary + (view.is("master") ? view.slots : "") + "\n");
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

bool RedisCluster::is_content(std::size_t i) const {
  if (value_of("cluster_state", nodes_[i]->try_command({"CLUSTER", "INFO"})) != "ok") return false;
  const std::string info = nodes_[i]->try_command({"INFO", "replication"});
  if (value_of("role", info) == "master") return info.find("state=online") != std::string::npos;
  return value_of("master_link_status", info) == "up";
}

void RedisCluster::wait_until_ready() {
  wait_until("the nodes are content", [this] {
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (!knows_all(i) || !is_content(i)) return false;
    }
    return true;
  });
  wait_until("the nodes agree", [this] {
    const std::string first = map_of(0);
    for (std::size_t i = 1; i < kNodes; ++i) {
      if (map_of(i) != first) return false;
    }
    return true;
  });
}

std::vector<std::size_t> RedisCluster::primaries() {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kNodes; ++i) {
    if (own_view(i).is("master")) found.push_back(i);
  }
  return found;
}

RedisCluster::Slot RedisCluster::slot_of(std::string_view tag) {
  for (const auto& node : nodes_) {
    const std::string said =
        node->try_command({"CLUSTER", "KEYSLOT", "{" + std::string(tag) + "}"});
    if (!said.empty()) return static_cast<Slot>(std::stoi(said));
  }
  throw std::runtime_error("no node answers");
}

int RedisCluster::find_owner(Slot slot) const {
  int owner = -1;
  std::uint64_t epoch = 0;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const View own = own_view(i);
    if (!own.is("master") || !own.has(slot) || own.epoch < epoch) continue;
    owner = static_cast<int>(i);
    epoch = own.epoch;
  }
  return owner;
}

std::size_t RedisCluster::owner_of(Slot slot) {
  int owner = -1;
  wait_until("somebody has slot " + std::to_string(slot), [&] {
    owner = find_owner(slot);
    return owner >= 0;
  });
  return static_cast<std::size_t>(owner);
}

std::string RedisCluster::tag_at(std::size_t node, const std::string& start) {
  const View own = own_view(node);
  for (int tries = 0; tries < 10'000; ++tries) {
    std::string tag = start + std::to_string(++last_tag_);
    if (own.has(slot_of(tag))) return tag;
  }
  throw std::runtime_error("node " + std::to_string(node) + " has no slots");
}

// --- changes ---

void RedisCluster::move_slot(Slot slot, std::size_t to) {
  const std::size_t from = owner_of(slot);
  if (from == to) return;
  const std::string number = std::to_string(slot);
  expect_ok(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", ids_[from]});
  expect_ok(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", ids_[to]});
  for (;;) {
    std::vector<std::string> words = {"MIGRATE", kHost, ports_[to].text(), "", "0", "5000", "KEYS"};
    const std::vector<std::string> keys =
        lines_of(nodes_[from]->command({"CLUSTER", "GETKEYSINSLOT", number, "2"}));
    if (keys.empty()) break;
    words.insert(words.end(), keys.begin(), keys.end());
    const std::string said = nodes_[from]->command(words);
    if (said != "OK" && said != "NOKEY") throw std::runtime_error("MIGRATE: " + said);
  }
  // The new owner first: it must know before the old one sends anybody to it.
  expect_ok(to, {"CLUSTER", "SETSLOT", number, "NODE", ids_[to]});
  expect_ok(from, {"CLUSTER", "SETSLOT", number, "NODE", ids_[to]});
  wait_until("all know who has the slot", [&] { return is_known(slot, to); });
}

// In the epoch of its owner: while nodes know of different ones they give the same one to two moves,
// and quarrel about it.
bool RedisCluster::is_known(Slot slot, std::size_t owner) const {
  const std::uint64_t epoch = own_view(owner).epoch;
  for (std::size_t i = 0; i < kNodes; ++i) {
    if (!nodes_[i]->is_running()) continue;
    const std::vector<View> views = views_of(i);
    const auto view = std::ranges::find(views, ids_[owner], &View::id);
    if (view == views.end() || !view->has(slot) || view->epoch != epoch) return false;
  }
  return true;
}

std::size_t RedisCluster::wait_for_failover(Slot slot, std::size_t lost) {
  int owner = -1;
  wait_until("another node has the slot", [&] {
    owner = find_owner(slot);
    return owner >= 0 && static_cast<std::size_t>(owner) != lost;
  });
  return static_cast<std::size_t>(owner);
}

void RedisCluster::bring_back() {
  for (std::size_t i = 0; i < kNodes; ++i) {
    if (nodes_[i]->state() == RedisProcess::State::dead) start_node(i);
    nodes_[i]->go_on();
  }
  wait_until_ready();
}

}  // namespace airlock::testing

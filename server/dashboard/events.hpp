#pragma once

#include <memory>
#include <set>
#include <string>

#include "config/config.hpp"
#include "dashboard/sampler.hpp"
#include "http/exchange.hpp"

namespace airlock::server {

// Which gates a viewer wants to see.
struct GateFilter {
  std::string match = "*";           // A glob.
  std::set<std::string> gates = {};  // Empty: all that match.
  GrantsPtr grants = {};             // What the viewer may observe.

  [[nodiscard]] bool includes(const std::string& gate) const;
};

// {"now","reset","gates","changed":[...],"removed":[...]...}: what leads from one snapshot to the next. Without `before` it is
// all there is.
[[nodiscard]] std::string changes_json(const Snapshot* before, const Snapshot& now,
                                       const GateFilter& filter);

// Somebody who watches: gets an event `state` whenever there is a snapshot. While a client does not take what was written,
// nothing more is written: it gets what changed meanwhile in one event, and after a while all there is. With a new configuration
// it sees what that lets it observe, or is sent away. Lives on the loop of its connection.
class Viewer final : public std::enable_shared_from_this<Viewer> {
 public:
  static void start(Sampler& sampler, const ExchangePtr& exchange, GateFilter filter);

  Viewer(Sampler& sampler, const ExchangePtr& exchange, GateFilter filter);

 private:
  void show();
  [[nodiscard]] bool may_watch();
  void send_away(const char* reason);
  void on_end(Exchange::End end);

  Sampler& sampler_;
  const ExchangePtr exchange_;
  Loop& loop_;
  GateFilter filter_;
  ConfigPtr config_;  // That the filter is of.
  SnapshotPtr shown_;
  int skipped_ = 0;
  bool is_over_ = false;
};

}  // namespace airlock::server

#include "store_control.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "airlock/error.hpp"
#include "airlock/metrics.hpp"
#include "airlock/shm.hpp"

namespace airlock::cli {
namespace {

std::string existing_stores(const std::string& uri) {
  std::string names;
  for (const ShmSegment& segment : list_shm_stores(uri)) {
    names += (names.empty() ? "shm:" : ", shm:") + segment.name;
  }
  return names.empty() ? "there is none in its folder" : "there are " + names;
}

auto like(const std::string& match) {
  return [match](std::string_view gate) {
    return fnmatch(match.c_str(), std::string(gate).c_str(), 0) == 0;
  };
}

class StoreControl final : public Control {
 public:
  explicit StoreControl(const std::string& uri) : uri_(uri), store_(open_store(uri)) {}

  std::string name() const override { return shown_uri(uri_); }

  std::vector<GateSummary> survey(const std::string& match) override {
    return existing().survey(like(match));
  }
  std::optional<GateReport> look(const GateName& gate) override {
    std::optional<GateView> view = existing().look(gate);
    if (!view) return std::nullopt;
    return report_on(std::move(*view));
  }
  std::vector<std::string> list() override { return existing().list(); }
  void write_metrics(std::ostream& out, const std::string& match) override {
    airlock::write_metrics(existing(), out, like(match));
  }
  Examination examine() override {
    return cli::examine([this] { return existing(); }, like("*"));
  }

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    existing().set_limit(gate, limit);
  }
  void pause(const GateName& gate, Duration duration) override { existing().pause(gate, duration); }
  bool resume(const GateName& gate) override { return existing().resume(gate); }
  std::optional<std::size_t> revoke(const GateName& gate, const std::optional<std::string>& visitor,
                                    Revoke how) override {
    if (!visitor) return existing().revoke(gate, {}, how);
    const std::optional<GateView> view = existing().look(gate);
    if (!view) return std::nullopt;
    const auto found = std::ranges::find(
        view->holders, *visitor, [](const HolderView& holder) { return digest(holder.visitor); });
    if (found == view->holders.end()) return std::nullopt;
    return store_.revoke(gate, found->visitor, how);
  }
  bool purge(const GateName& gate) override { return existing().purge(gate); }

 private:
  // A segment may also go away while it is looked at.
  const Store& existing() const {
    if (!uri_.starts_with("shm:") || has_shm_store(uri_)) return store_;
    throw StoreError(
        StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
        "store " + uri_ + " does not exist: nothing has used it yet; " + existing_stores(uri_));
  }

  const std::string uri_;
  const Store store_;
};

}  // namespace

std::unique_ptr<Control> store_control(const std::string& uri) {
  return std::make_unique<StoreControl>(uri);
}

std::string shown_uri(const std::string& uri) {
  std::string shown = uri.substr(0, uri.find('?'));
  const std::size_t scheme = shown.find("://");
  const std::size_t user = shown.rfind('@');
  if (scheme == std::string::npos || user == std::string::npos || user < scheme) return shown;
  shown.erase(scheme + 3, user - scheme - 2);
  return shown;
}

}  // namespace airlock::cli

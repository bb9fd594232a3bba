#include "server.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "airlock/error.hpp"
#include "operations/signals.hpp"
#include "rls/grpc_calls.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kDrain = 6s;      // For answers to be written,
constexpr Duration kFlush = 2s;  // and then for leases to be given back.
constexpr std::chrono::milliseconds kTick = 1s;

bool is_local(const std::string& store) {
  return store.starts_with("memory:") || store.starts_with("shm:");
}

}  // namespace

Server::Server(const Options& options)
    : listens_(options.listen),
      has_rights_(!options.config->rights.is_open()),
      reload_(options.config_file, options.config, shared_.operations.config,
              shared_.operations.errors,
              [this](const ConfigPtr& config, const std::function<void()>& done) {
                apply(config, done);
              }) {
  shared_.operations.access.use(AccessLog::open(options.config->log));
  const unsigned count =
      options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < count; ++i)
    loops_.push_back(std::make_unique<Loop>(shared_, options.config));
  // NOLINTNEXTLINE(modernize-make-unique): clang 14 makes no aggregate from parentheses
  api_ = std::unique_ptr<Api>(new Api{open_store(options.store), is_local(options.store), shared_});
  api_->sampler = std::make_unique<Sampler>(api_->store, options.config->dashboard.history);
  handlers_ = {.http = [this](const ExchangePtr& exchange) { handle(*api_, exchange); },
               .grpc = [this](const grpc::CallPtr& call) { handle_grpc(*api_, call); }};
  const auto next = [this]() -> Loop& { return *loops_[next_++ % loops_.size()]; };
  for (const Endpoint& endpoint : options.listen) {
    listeners_.push_back(std::make_unique<Listener>(*loops_.front(), endpoint, next, handlers_));
  }
}

// Connections end before what they refer to. Steps that run may still post to loops.
Server::~Server() {
  listeners_.clear();
  api_.reset();
}

std::string Server::listens_at() const {
  std::string text;
  for (const auto& listener : listeners_) text += (text.empty() ? "" : " ") + listener->text();
  return text;
}

void Server::run() {
  for (const auto& listener : listeners_) listener->start();
  std::vector<std::jthread> threads;
  for (const auto& loop : loops_) threads.emplace_back([&loop] { loop->run(); });
  manager_.ready(status());
  await_end();
  manager_.stopping();
  drain();
  for (const auto& loop : loops_) loop->stop();
  threads.clear();
  api_->store.close();
  (void)api_->store.flush(kFlush);
}

void Server::await_end() {
  const auto quarter = std::chrono::ceil<std::chrono::milliseconds>(manager_.watchdog() / 4);
  const auto tick = quarter == 0ms ? kTick : std::min(quarter, kTick);
  while (true) {
    const int caught = await_signal(tick);
    if (caught == SIGTERM || caught == SIGINT) return;
    if (caught == SIGHUP) reload();
    if (caught == SIGUSR1) reopen_log();
    shared_.operations.errors.tick();
    watch_loops();
  }
}

// A loop that hangs answers nobody: then systemd restarts the server.
void Server::watch_loops() {
  if (manager_.watchdog() == 0us) return;
  const auto since =
      std::chrono::steady_clock::now() - std::max<Duration>(manager_.watchdog() / 2, kTick);
  const bool all_run = std::all_of(loops_.begin(), loops_.end(),
                                   [&](const auto& loop) { return loop->has_run_since(since); });
  if (all_run) return manager_.is_alive();
  shared_.operations.errors.report("watchdog", "an event loop does not run");
}

std::string Server::status() const { return reload_.status() + "; listens at " + listens_at(); }

void Server::reload() {
  manager_.reloading();
  reload_.run();
  manager_.ready(status());
}

// `done` is called when the last loop has let go of it.
void Server::apply(const ConfigPtr& config, const std::function<void()>& done) {
  for (const Endpoint& endpoint : listens_) check_exposure(endpoint, *config);
  // It may have been emptied by mistake, or be half written.
  if (has_rights_ && config->rights.is_open())
    throw InvalidArgument(
        "the file has no [[principal]] any more, so everybody who can connect could do everything; "
        "that takes a restart");
  shared_.operations.access.use(AccessLog::open(config->log));
  has_rights_ = !config->rights.is_open();
  const std::shared_ptr<void> all_have_it(nullptr, [done](void*) { done(); });
  for (const auto& loop : loops_) {
    loop->post([&loop, config, all_have_it] { loop->set_config(config); });
  }
}

void Server::reopen_log() {
  try {
    shared_.operations.access.reopen();
  } catch (const InvalidArgument& error) {
    shared_.operations.errors.say(std::string("the earlier log is kept: ") + error.what());
  }
}

// New connections are accepted meanwhile, so that probes learn of it.
void Server::drain() {
  shared_.is_draining = true;
  api_->sampler->stop();
  const auto end = std::chrono::steady_clock::now() + kDrain;
  do {
    for (const auto& loop : loops_) {
      loop->post([&loop] { loop->drain(); });
    }
    std::this_thread::sleep_for(20ms);
  } while (shared_.connections != 0 && std::chrono::steady_clock::now() < end);
}

}  // namespace airlock::server

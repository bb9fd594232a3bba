#include "server.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "rls/grpc_calls.hpp"
#include "airlock/error.hpp"
#include "operations/signals.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kDrain = 6s;      // For answers to be written,
constexpr Duration kFlush = 2s;  // and then for leases to be given back.
constexpr auto kTick = 1s;

bool is_local(const std::string& store) {
  return store.starts_with("memory:") || store.starts_with("shm:");
}

}  // namespace

Server::Server(const Options& options)
    : reload_(options.config_file, options.config, shared_.operations.config,
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
  await_end();
  drain();
  for (const auto& loop : loops_) loop->stop();
  threads.clear();
  api_->store.close();
  (void)api_->store.flush(kFlush);
}

void Server::await_end() {
  while (true) {
    const int caught = await_signal(kTick);
    if (caught == SIGTERM || caught == SIGINT) return;
    if (caught == SIGHUP) reload_.run();
    if (caught == SIGUSR1) reopen_log();
    shared_.operations.errors.tick();
  }
}

// `done` is called when the last loop has let go of it.
void Server::apply(const ConfigPtr& config, const std::function<void()>& done) {
  shared_.operations.access.use(AccessLog::open(config->log));
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

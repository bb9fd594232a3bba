#include "operations/reload.hpp"

#include <chrono>
#include <utility>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

std::int64_t unix_now() {
  return std::chrono::floor<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

ConfigStatus::ConfigStatus() : loaded_at(unix_now()) {}

void ConfigStatus::failed() {
  ++failed_reloads;
  failed_at = unix_now();
}

void ConfigStatus::loaded(std::uint64_t as_generation) {
  loaded_at = unix_now();
  generation = as_generation;
}

Reload::Reload(std::string file, ConfigPtr started_with, ConfigStatus& status, ErrorLog& log,
               Apply apply)
    : file_(std::move(file)),
      started_with_(std::move(started_with)),
      status_(status),
      log_(log),
      apply_(std::move(apply)) {}

void Reload::run() {
  try {
    if (file_.empty()) throw InvalidArgument("the server was started without --config FILE");
    const ConfigPtr config = load_config(file_);
    apply_(config, [&status = status_, next = generation_ + 1] { status.loaded(next); });
    ++generation_;
    has_failed_ = false;
    log_.say("reloaded: " + file_ + " is configuration " + std::to_string(generation_));
    say_what_needs_a_restart(*config);
  } catch (const InvalidArgument& error) {
    has_failed_ = true;
    status_.failed();
    log_.say(std::string("not reloaded, nothing has changed: ") + error.what());
  }
}

std::string Reload::status() const {
  return "configuration " + std::to_string(generation_) +
         (has_failed_ ? ", the last reload failed" : "");
}

void Reload::say_what_needs_a_restart(const Config& config) {
  const auto say = [this](const char* key, bool has_changed) {
    if (has_changed)
      log_.say(std::string("reloaded: ") + key +
               " has changed, which takes effect when the server starts the next time");
  };
  say("server.listen", config.listen != started_with_->listen);
  say("server.store", config.store != started_with_->store);
  say("server.socket_mode", config.socket_mode != started_with_->socket_mode);
  say("server.threads", config.threads != started_with_->threads);
  say("dashboard.history", config.dashboard.history != started_with_->dashboard.history);
}

}  // namespace airlock::server

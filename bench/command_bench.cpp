#ifdef AIRLOCK_COMMAND

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace airlock::bench {
namespace {

// A folder in memory, gone in the end.
class Folder {
 public:
  Folder() { require(mkdtemp(path_.data()) != nullptr, "there is a folder for files"); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string operator/(const char* name) const { return path_ + '/' + name; }

 private:
  std::string path_ = "/dev/shm/airlock-bench-XXXXXX";
};

// One operation: a command, from its start to its end.
class RunCommand final : public Subject {
 public:
  // What follows the command's own arguments is `true`; {} stands for a file of its own.
  explicit RunCommand(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) {
      if (const std::size_t at = word.find("{}"); at != std::string::npos) {
        word.replace(at, 2, folder_ / "x");
      }
    }
    words_.emplace_back("true");
    for (std::string& word : words_) arguments_.push_back(word.data());
    arguments_.push_back(nullptr);
  }

  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      pid_t pid = 0;
      int status = -1;
      if (posix_spawnp(&pid, arguments_[0], nullptr, nullptr, arguments_.data(), environ) == 0) {
        waitpid(pid, &status, 0);
      }
      succeeded_ += status == 0 ? 1 : 0;
    }
  }
  void check(std::uint64_t operations) override {
    require(succeeded_ == operations, "every command ran and succeeded");
  }

 private:
  Folder folder_;
  std::vector<std::string> words_;
  std::vector<char*> arguments_;
  std::uint64_t succeeded_ = 0;
};

bool is_installed(const char* command) {
  const std::string test = std::string("command -v ") + command + " >/dev/null";
  return std::system(test.c_str()) == 0;  // NOLINT(cert-env33-c,concurrency-mt-unsafe): ours
}

void add_row(std::vector<Row>& rows, const char* against, std::optional<double> aim,
             const std::vector<std::string>& words) {
  rows.push_back({.name = "command: airlock run x true",
                  .against = against,
                  .aim = aim,
                  .subject =
                      [] {
                        return std::make_unique<RunCommand>(std::vector<std::string>{
                            AIRLOCK_COMMAND, "--store", "shm:x?dir={}", "run", "x"});
                      },
                  .reference = [words] { return std::make_unique<RunCommand>(words); },
                  .time = Time::wall});
}

}  // namespace

void add_command_rows(std::vector<Row>& rows) {
  add_row(rows, "flock file true", 1.5, {"flock", "{}"});
  if (is_installed("sem"))
    add_row(rows, "sem --fg true", std::nullopt, {"sem", "--fg", "--id", "x"});
}

}  // namespace airlock::bench

#endif

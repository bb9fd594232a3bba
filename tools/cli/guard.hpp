#pragma once

#include <sys/types.h>

#include <string>

#include "signals.hpp"

namespace airlock::cli {

// A process that ends the processes of a command if airlock is killed and cannot: when the other
// end of its pipe is closed, it kills them all.
//
// It has a session of its own, nothing of the terminal and no file of the caller. It keeps airlock's
// place in shared memory alive: so a slot is free when the command's processes have ended, and not
// before. Nobody renews it, so that it is free after
// the ttl at the latest.
class Guard {
 public:
  struct Charge {
    pid_t command = 0;
    pid_t group = 0;   // The command's own process group; 0: it has none.
    std::string mark;  // What the environment of its processes contains.
  };

  Guard();  // Exit with 71 if there is no pipe.
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();  // Ends it.

  // False: no process could be made. The command must not have been waited for yet.
  [[nodiscard]] bool start(const Charge& charge);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }  // 0: not started.

 private:
  Descriptor read_end_;
  Descriptor write_end_;
  pid_t pid_ = 0;
};

}  // namespace airlock::cli

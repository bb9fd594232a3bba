#include "checked_output.hpp"

#include <unistd.h>

#include <cerrno>

#include "command.hpp"
#include "output.hpp"

namespace airlock::cli {

void write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      throw Exit{kOutput, "standard output: " + error_text(errno)};
    }
  }
}

}  // namespace airlock::cli

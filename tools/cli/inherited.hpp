#pragma once

// What the command was started with and changes for itself; its child gets it back.

namespace airlock::cli {

// To be called first in main(). Descriptors 0 to 2 are open afterwards, so that no file of ours ever
// has one of these numbers: a missing one is a /dev/null that refuses to be written to, and the
// child finds it missing again. SIGCHLD is not ignored, or ended children could not be waited for;
// SIGPIPE is, so that a write to a pipe that nobody reads fails instead of ending the command.
void prepare_process() noexcept;

// In the child before exec: SIGCHLD and SIGPIPE as they were. System calls only.
void restore_dispositions() noexcept;

}  // namespace airlock::cli

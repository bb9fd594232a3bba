#pragma once

namespace airlock::base {

// A failed system call as a StoreError that says who can help: the caller by trying again, or an
// operator. Nothing has happened.
//
//   if (fd < 0) throw_errno("open", errno);
[[noreturn]] void throw_errno(const char* call, int error);

}  // namespace airlock::base

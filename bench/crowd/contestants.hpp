#pragma once

#include "crowd.hpp"

namespace airlock::bench {

// The store is plan.at; with --threads all of them share one.
MakeClient airlock_clients(const Plan& plan);

// std::counting_semaphore; threads only.
MakeClient standard_clients(const Plan& plan);
MakeClient posix_clients(const Plan& plan);  // A named semaphore.
MakeClient sysv_clients(const Plan& plan);   // With SEM_UNDO.

// A file is one slot. For several there are as many files, and client n uses file n modulo slots.
MakeClient flock_clients(const Plan& plan);

// A new process for every admission: what is inside is this program again, as `inside FILE HOLD_US ASK`, and writes the
// line into FILE.
MakeClient airlock_command_clients(const Plan& plan);
MakeClient flock_command_clients(const Plan& plan);  // As flock_clients.
MakeClient sem_command_clients(const Plan& plan);
int be_inside(int argc, char** argv);

}  // namespace airlock::bench

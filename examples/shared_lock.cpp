// expect: two readers are in, a writer is refused
// expect: the last reader became the writer, a reader is refused
// expect: the writer reads again, a reader is in
// Many readers or one writer; a reader may become the writer without releasing.

#include <iostream>

#include "airlock/lock_seal.hpp"
#include "airlock/store.hpp"

int main() {
  auto store = airlock::open_store("memory:");

  // [shared]
  airlock::LockSeal catalog(store, "catalog", {.readers = 1'000});

  auto ann = catalog.try_acquire_shared();
  auto bob = catalog.try_acquire_shared();
  if (!ann || !bob || catalog.try_acquire()) return 1;
  std::cout << "two readers are in, a writer is refused\n";

  catalog.release(bob->token);
  auto writer = catalog.try_promote(ann->token);  // Refused while there are other readers.
  if (!writer || catalog.try_acquire_shared()) return 1;
  std::cout << "the last reader became the writer, a reader is refused\n";

  catalog.demote(writer->token);
  if (!catalog.try_acquire_shared()) return 1;
  std::cout << "the writer reads again, a reader is in\n";
  // [/shared]
}

/* Waiting in an event loop: the second example of docs/c.md. */
#define _POSIX_C_SOURCE 200809L  // For poll.h.
#include <poll.h>
#include <stdio.h>

#include "airlock.h"

static int fail(const airlock_error *error) {
  fprintf(stderr, "%s\n", error->text);
  return 1;
}

int main(int argc, char **argv) {
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_gate_options options = {.size = sizeof options, .limit = 1};
  airlock_store *store = NULL;
  airlock_gate *gate = NULL;
  airlock_lease *first = NULL;

  if (airlock_store_open(airlock_str(argc > 1 ? argv[1] : "memory:"), &store, &error) < 0) return fail(&error);
  if (airlock_gate_open(store, airlock_str("erp"), &options, &gate, &error) < 0) return fail(&error);
  if (airlock_enter(gate, NULL, 0, &first, NULL, &error) != AIRLOCK_DONE) return fail(&error);

  // [mailbox]
  airlock_mailbox *mailbox = NULL;
  airlock_event event = {.size = sizeof event};
  if (airlock_mailbox_open(&mailbox, &error) < 0) return fail(&error);

  // Neither call blocks. Tag 7 stands for whatever waits: an index, an address.
  if (airlock_enter_async(gate, NULL, 60 * AIRLOCK_SECOND, mailbox, 7, &error) < 0) return fail(&error);
  airlock_lease_free(first);

  struct pollfd news = {.fd = airlock_mailbox_fd(mailbox), .events = POLLIN};
  if (poll(&news, 1, 60000) != 1) return 1;
  while (airlock_mailbox_next(mailbox, &event, NULL, &error) == AIRLOCK_DONE) {
    if (event.kind == AIRLOCK_EVENT_GRANTED) {
      printf("%llu is in\n", (unsigned long long)event.tag);
      airlock_lease_free(event.lease);
    } else if (event.kind == AIRLOCK_EVENT_FAILED) {
      return fail(&error);
    }
  }
  airlock_mailbox_free(mailbox);
  // [/mailbox]

  airlock_gate_free(gate);
  airlock_store_free(store);
  return 0;
}

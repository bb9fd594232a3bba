/* Waiting in the main thread, where signal handlers run. */
#include <poll.h>

#include "binding.h"

/* A signal that comes between the check for signals and poll() is seen this much later. */
#define POLL_MILLISECONDS 200

static airlock_mailbox* take_mailbox(State* state, airlock_error* error, int32_t* status) {
  airlock_mailbox* mailbox = NULL;
  if (state->spare_count > 0) return state->spares[--state->spare_count];
  *status = airlock_mailbox_open(&mailbox, error);
  return mailbox;
}

static void keep_mailbox(State* state, airlock_mailbox* mailbox) {
  if (state->spare_count < SPARE_MAILBOXES) {
    state->spares[state->spare_count++] = mailbox;
  } else {
    airlock_mailbox_free(mailbox);
  }
}

void drop_spare_mailboxes(State* state) {
  while (state->spare_count > 0) airlock_mailbox_free(state->spares[--state->spare_count]);
}

static void wait_for_event(const airlock_mailbox* mailbox, int milliseconds) {
  struct pollfd news = {.fd = airlock_mailbox_fd(mailbox), .events = POLLIN};
  Py_BEGIN_ALLOW_THREADS;
  (void)poll(&news, 1, milliseconds);
  Py_END_ALLOW_THREADS;
}

/* Leaves the line; a lease that was granted meanwhile is given back. */
static void give_up(airlock_mailbox* mailbox) {
  airlock_event event = {.size = sizeof event};
  (void)airlock_mailbox_cancel(mailbox, 1, NULL);
  for (;;) {
    const int32_t status = airlock_mailbox_next(mailbox, &event, NULL, NULL);
    if (status == AIRLOCK_DONE) break;
    if (status != AIRLOCK_NOTHING) return;
    wait_for_event(mailbox, -1);
  }
  airlock_lease_free(event.lease);
}

static int32_t status_of(const airlock_event* event, const airlock_error* error) {
  switch (event->kind) {
    case AIRLOCK_EVENT_GRANTED:
      return AIRLOCK_DONE;
    case AIRLOCK_EVENT_REFUSED:
      return AIRLOCK_REFUSED;
    case AIRLOCK_EVENT_FAILED:
      return error->status < 0 ? error->status : AIRLOCK_FAILED;
    default:
      return AIRLOCK_INTERNAL;
  }
}

int32_t enter_with_signals(State* state, const airlock_gate* gate, const airlock_ask* ask,
                           int64_t max_wait, airlock_lease** lease, airlock_answer* answer,
                           airlock_error* error) {
  int32_t status = AIRLOCK_NO_MEMORY;
  airlock_mailbox* mailbox = take_mailbox(state, error, &status);
  if (mailbox == NULL) return status;
  status = airlock_enter_begin(gate, ask, max_wait, mailbox, 1, lease, answer, error);
  if (status != AIRLOCK_QUEUED) {
    keep_mailbox(state, mailbox);
    return status;
  }
  const uint64_t forks = state->forks;
  airlock_event event = {.size = sizeof event};
  while ((status = airlock_mailbox_next(mailbox, &event, answer, error)) == AIRLOCK_NOTHING) {
    if (PyErr_CheckSignals() < 0) {
      give_up(mailbox);
      keep_mailbox(state, mailbox);
      return SIGNAL_RAISED;
    }
    if (forks !=
        state->forks) { /* A handler forked, and this is the child: it has no place in the line. */
      airlock_mailbox_free(mailbox);
      return enter_with_signals(state, gate, ask, max_wait, lease, answer, error);
    }
    wait_for_event(mailbox, POLL_MILLISECONDS);
  }
  keep_mailbox(state, mailbox);
  if (status != AIRLOCK_DONE) return status;
  *lease = event.lease;
  return status_of(&event, error);
}

/* The example of docs/c.md. It prints what happened; the test wants all of it to go well. */
// [example]
#include <stdio.h>

#include "airlock.h"

static int fail(const airlock_error *error) {
  fprintf(stderr, "%s\n", error->text);
  return 1;
}

int main(int argc, char **argv) {
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  airlock_gate_options options = {.size = sizeof options, .limit = 10, .ttl = 10 * AIRLOCK_SECOND};
  airlock_store *store = NULL;
  airlock_gate *erp = NULL;
  airlock_lease *lease = NULL;
  int32_t status;

  if (airlock_store_open(airlock_str(argc > 1 ? argv[1] : "shm:"), &store, &error) < 0) return fail(&error);
  if (airlock_gate_open(store, airlock_str("legacy-erp"), &options, &erp, &error) < 0) return fail(&error);

  // Waits up to 200 ms for a slot.
  status = airlock_enter(erp, NULL, 200 * AIRLOCK_MILLISECOND, &lease, &answer, &error);
  if (status == AIRLOCK_DONE) {
    printf("in, with fence %llu\n", (unsigned long long)airlock_lease_fence(lease));
    airlock_lease_free(lease);
  } else if (status == AIRLOCK_REFUSED) {
    printf("%s: retry after %lld us\n", airlock_reason_text(answer.reason), (long long)answer.retry_after);
  } else {
    return fail(&error);
  }

  airlock_gate_free(erp);
  airlock_store_free(store);
  return 0;
}
// [/example]

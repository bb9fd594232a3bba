/*
 * airlock for C, and for every language that calls C.
 *
 *   airlock_error error = AIRLOCK_ERROR_INIT;
 *   airlock_store *store = NULL;
 *   airlock_gate *erp = NULL;
 *   airlock_lease *lease = NULL;
 *   airlock_gate_options options = {.size = sizeof options, .limit = 10, .ttl = 10 * AIRLOCK_SECOND};
 *
 *   if (airlock_store_open(airlock_str("shm:"), &store, &error) < 0) fail(error.text);
 *   if (airlock_gate_open(store, airlock_str("legacy-erp"), &options, &erp, &error) < 0) fail(error.text);
 *   switch (airlock_enter(erp, NULL, 200 * AIRLOCK_MILLISECOND, &lease, NULL, &error)) {
 *     case AIRLOCK_DONE: query(airlock_lease_fence(lease)); airlock_lease_free(lease); break;
 *     case AIRLOCK_REFUSED: busy(); break;
 *     default: fail(error.text);
 *   }
 *
 * Rules of this interface:
 *
 * - A function that asks or changes something returns an airlock_status: 0 done, above 0 another answer,
 *   below 0 a failure. Nothing is thrown, and nothing is kept in thread-local variables.
 * - A new object is written to the pointer that is passed; unless the status is DONE that is NULL.
 * - `airlock_error *` is the caller's; NULL is allowed. Only failures write to it.
 * - Structs begin with `size`, which the caller sets to sizeof, also in results. Options that are 0 have their
 *   default. A caller with an older header gets the fields that it knows; options that it does not know have
 *   their default. An option that this library does not know must be 0, or the call is AIRLOCK_INVALID.
 * - Results are set to 0 before anything happens, so that they never hold what was there before.
 * - Enums grow at the end; expect values that you do not know.
 * - Texts are a pointer and a length and need no NUL. What is passed in is copied.
 * - Durations are microseconds and not negative. Results are rounded up.
 * - A required pointer that is NULL, and a struct whose size was not set, is AIRLOCK_INVALID. That includes
 *   the airlock_error: its text is then not written. Using a handle after it was freed is undefined.
 *   _free(NULL) does nothing.
 * - A handle may be used by any thread, also after fork(); a lease by one thread at a time.
 *   In a child process its parent's leases are empty: freeing them frees memory and gives nothing back.
 * - An object keeps alive what it needs: the store may be freed before its gates, gates before leases.
 * - No function is called back: news is pulled from a mailbox.
 * - A thread inside a function of this interface must not be ended by pthread_cancel() or longjmp().
 *
 * Error texts never contain tokens, visitors or passwords.
 */
#ifndef AIRLOCK_H
#define AIRLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AIRLOCK_API __attribute__((visibility("default")))

/* The version of this interface. A library of another one has another name (libairlock-c.so.N), and a
 * program that loads it by hand compares this with airlock_abi(). */
#define AIRLOCK_ABI 1

AIRLOCK_API uint32_t airlock_abi(void);
AIRLOCK_API const char *airlock_version(void); /* "0.9.0" */

/* --- Texts, durations, status ------------------------------------------------------------------------ */

typedef struct {
  const char *data;
  size_t size;
} airlock_text;

static inline airlock_text airlock_str(const char *text) {
  airlock_text result = {text, text == NULL ? 0 : strlen(text)};
  return result;
}

#define AIRLOCK_MILLISECOND INT64_C(1000)
#define AIRLOCK_SECOND INT64_C(1000000)
#define AIRLOCK_FOREVER INT64_MAX

typedef enum {
  AIRLOCK_DONE = 0,        /* Yes; granted where something was asked for. */
  AIRLOCK_REFUSED = 1,     /* No room, no rate, paused: an answer and not a failure. */
  AIRLOCK_QUEUED = 2,      /* It has a place in the line. */
  AIRLOCK_NOTHING = 3,     /* There is no such thing: no event, no place, an unknown gate. */
  AIRLOCK_GONE = 4,        /* The admission had already ended. Stop the work. */
  AIRLOCK_INTERRUPTED = 5, /* A signal ended the wait. */
  AIRLOCK_INVALID = -1,    /* The call is wrong, and nothing happened. */
  AIRLOCK_FAILED = -2,     /* The store failed: error.kind says how, error.outcome what may have happened. */
  AIRLOCK_NO_MEMORY = -3,
  AIRLOCK_INTERNAL = -4 /* A defect of the library: please report it. */
} airlock_status;

typedef enum {
  AIRLOCK_KIND_NONE = 0,
  AIRLOCK_KIND_UNAVAILABLE = 1, /* Not reachable, or no answer in time. Retry later. */
  AIRLOCK_KIND_BUSY = 2,
  AIRLOCK_KIND_NO_ROOM = 3,     /* No memory, thread or descriptor is left. */
  AIRLOCK_KIND_CLOSED = 4,      /* airlock_store_close() was called. */
  AIRLOCK_KIND_INCOMPATIBLE = 5 /* Another version, a missing right. An operator must act. */
} airlock_kind;

typedef enum {
  AIRLOCK_NOTHING_HAPPENED = 0,
  AIRLOCK_UNKNOWN = 1 /* Ask again with the same visitor. */
} airlock_outcome;

/* What went wrong. The text ends with a NUL and is cut where it does not fit. */
typedef struct {
  uint32_t size;
  int32_t status;  /* The status that the function returned. */
  int32_t kind;    /* airlock_kind */
  int32_t outcome; /* airlock_outcome */
  char text[496];
} airlock_error;

#define AIRLOCK_ERROR_INIT {sizeof(airlock_error), 0, 0, 0, {0}}

/* "200ms", "5s", "1h30m", "forever"; a bare number is seconds. */
AIRLOCK_API int32_t airlock_duration_parse(airlock_text text, int64_t *duration, airlock_error *error);

/* --- Stores --------------------------------------------------------------------------------------------- */

typedef struct airlock_store airlock_store;

/* "memory:", "shm:[name]", "redis://...": docs/stores.md. Only parses; the store is reached on first use. */
AIRLOCK_API int32_t airlock_store_open(airlock_text uri, airlock_store **store, airlock_error *error);
AIRLOCK_API void airlock_store_free(airlock_store *store);

/* How a process ends its work. close: this process is let in nowhere any more, and its waits end with
 * AIRLOCK_KIND_CLOSED. drain: waits until this process holds no lease. flush: waits until background releases
 * have reached the store. drain and flush: NOTHING when the time was up before. */
AIRLOCK_API int32_t airlock_store_close(airlock_store *store, airlock_error *error);
AIRLOCK_API int32_t airlock_store_drain(airlock_store *store, int64_t at_most, airlock_error *error);
AIRLOCK_API int32_t airlock_store_flush(airlock_store *store, int64_t at_most, airlock_error *error);

/* --- Visitors and names --------------------------------------------------------------------------------- */

typedef struct {
  uint64_t high;
  uint64_t low;
} airlock_visitor;

AIRLOCK_API int32_t airlock_visitor_random(airlock_visitor *visitor, airlock_error *error);
/* The same visitor for the same bytes. */
AIRLOCK_API int32_t airlock_visitor_named(airlock_text bytes, airlock_visitor *visitor, airlock_error *error);

/* 200 bytes at most, and a NUL. */
#define AIRLOCK_NAME_SIZE 201
/* A legal gate name for any bytes; different pairs give different names. */
AIRLOCK_API int32_t airlock_gate_name(airlock_text prefix, airlock_text key, char name[AIRLOCK_NAME_SIZE],
                                      airlock_error *error);

/* A key of event isolation: whose events must not be handled at the same time. */
typedef struct {
  uint32_t size;
  uint32_t has_thread;
  int64_t bot;
  int64_t chat;
  int64_t user;
  int64_t thread;
  airlock_text business_connection; /* data NULL: none. */
  airlock_text destiny;             /* data NULL: "default". */
  /* How the key becomes bytes. */
  airlock_text prefix;    /* data NULL: "fsm". */
  airlock_text separator; /* data NULL: ":". */
  uint32_t with_bot;
  uint32_t with_business_connection;
  uint32_t with_destiny;
} airlock_storage_key;

/* Writes at most `capacity` bytes of the key and no NUL; `*needed` is its whole length. If *needed > capacity, call it
 * again with more room. */
AIRLOCK_API int32_t airlock_storage_key_text(const airlock_storage_key *key, char *text, size_t capacity,
                                             size_t *needed, airlock_error *error);

/* --- Gates ------------------------------------------------------------------------------------------------ */

typedef enum { AIRLOCK_GCRA = 0, AIRLOCK_SLIDING_WINDOW = 1, AIRLOCK_FIXED_WINDOW = 2, AIRLOCK_NO_LIMIT = 3 } airlock_algorithm;

/* So much per time. Several guard one gate together. No `size`: it is part of arrays and stays as it is. */
typedef struct {
  uint32_t count;
  uint32_t burst; /* GCRA only. 0: the same as count. */
  int64_t period;
  int32_t algorithm; /* airlock_algorithm */
  int32_t reserved;  /* 0 */
} airlock_rate;

/* "100/s", "10/1m", "100/s,burst=20", "5/1h,sliding", "5/1h,fixed", "unlimited" */
AIRLOCK_API int32_t airlock_rate_parse(airlock_text text, airlock_rate *rate, airlock_error *error);

typedef enum {
  AIRLOCK_FIFO = 0,
  AIRLOCK_PRIORITY = 1,
  AIRLOCK_LOTTERY = 2,
  AIRLOCK_AGING_LOTTERY = 3
} airlock_order;

typedef enum {
  AIRLOCK_OUTAGE_CLOSED = 0, /* Nobody is let in while the store cannot be reached: AIRLOCK_FAILED. */
  AIRLOCK_OUTAGE_OPEN = 1,   /* Everybody is, unguarded. */
  AIRLOCK_OUTAGE_LOCAL = 2   /* As many as `local_limit` of this process are, unguarded. */
} airlock_outage;

typedef struct {
  uint32_t size;
  uint32_t limit;       /* How much may be inside, all processes together. 0: the rates decide. */
  int64_t ttl;          /* A holder that vanished is out after this. 0: 30 s. */
  int64_t max_hold;     /* A lease is not renewed beyond this. 0: no bound. If not above ttl, it is never renewed and no
                         * thread is started for it. */
  const airlock_rate *rates; /* Every tier must pass, too. */
  size_t rate_count;
  int32_t order;        /* airlock_order */
  uint32_t exclusive;   /* 1: a lock: operators may lower the limit and never raise it. */
  uint32_t barging;     /* 1: enter past the line when there is room. */
  uint32_t max_waiting; /* A longer line refuses. 0: no bound. */
  uint32_t refuse_late; /* 1: refuse at once when the expected wait is longer than the caller would wait. */
  uint32_t local_limit; /* AIRLOCK_OUTAGE_LOCAL. 0: 1. */
  int64_t patience;     /* A waiter that stopped asking is gone after this. 0: 10 s. */
  int64_t claim_window; /* A hand-over waits for its claim for at most this. 0: 1 s, for visitors with an id 10 s. */
  int32_t outage;       /* airlock_outage */
  uint32_t aging_base;  /* AIRLOCK_AGING_LOTTERY: tickets at first, more per second, and at most. 0: 1, 1, 100. */
  uint32_t aging_per_second;
  uint32_t aging_max;
} airlock_gate_options;

typedef struct airlock_gate airlock_gate;

AIRLOCK_API int32_t airlock_gate_open(const airlock_store *store, airlock_text name, const airlock_gate_options *options,
                                      airlock_gate **gate, airlock_error *error);
AIRLOCK_API void airlock_gate_free(airlock_gate *gate);

/* --- Entering --------------------------------------------------------------------------------------------- */

/* How one caller wants in. NULL: all defaults. */
typedef struct {
  uint32_t size;
  uint32_t weight;        /* 0: 1. */
  uint32_t priority;      /* AIRLOCK_PRIORITY: 0 to 4095, higher first. */
  uint32_t cost;          /* What the rates are charged. 0: 1. */
  airlock_text label;     /* What operators see. Empty: "host:pid comm". */
  uint32_t interruptible; /* airlock_enter() only, else 0. 1: a signal handler that runs in the waiting thread ends the
                           * wait: AIRLOCK_INTERRUPTED, and the line is left. Such a wait is in poll(2) while threads of
                           * the library ask. A signal that is handled before poll(2) begins is not noticed; a caller
                           * that must not miss one waits with airlock_enter_async() and ppoll(2), or a pipe. */
} airlock_ask;

typedef enum {
  AIRLOCK_REASON_FULL = 0,
  AIRLOCK_REASON_RATE = 1,
  AIRLOCK_REASON_PAUSED = 2,
  AIRLOCK_REASON_LINE_FULL = 3,
  AIRLOCK_REASON_LATE = 4,
  AIRLOCK_REASON_NEVER = 5
} airlock_reason;
AIRLOCK_API const char *airlock_reason_text(int32_t reason); /* "full"; "unknown" for what is none. */

/* How the tightest tier stands. */
typedef struct {
  uint32_t limit;
  uint32_t remaining;
  int64_t retry_after;
  int64_t reset_after;
} airlock_rate_info;

/* Longer than any token's text, its NUL included. */
#define AIRLOCK_TOKEN_SIZE 320

/* What was answered. Which fields are set depends on the status; the others are 0. */
typedef struct {
  uint32_t size;
  int32_t reason;       /* REFUSED: airlock_reason */
  int64_t retry_after;  /* REFUSED: asking before is pointless; AIRLOCK_FOREVER for never. */
  int64_t waited;       /* How long this call was kept; 0 where it may not wait. */
  airlock_rate_info rate;
  uint64_t fence;       /* DONE: grows with every admission of the gate. */
  int64_t slot;         /* DONE: a number below the limit that no other holder of weight 1 has; -1: none. */
  int64_t expires_in;   /* DONE */
  int64_t deadline;     /* DONE, of seals: for airlock_seal_remaining(). */
  int64_t delay;        /* DONE, of reserve: act after this. */
  uint32_t taken;       /* DONE: of the cost. */
  uint32_t repeated;    /* DONE: this visitor was holding already. */
  uint32_t position;    /* QUEUED: 1 is next. */
  uint32_t waiting;     /* QUEUED: the length of the line. */
  int64_t next_check;   /* QUEUED: when to ask again at the latest. */
  int64_t eta;          /* QUEUED: the expected wait; 0: not known. */
  char token[AIRLOCK_TOKEN_SIZE]; /* DONE, of a visitor or a seal, if it can be released: keep it out of logs. Else
                                   * empty; of a lease: airlock_lease_token(). */
} airlock_answer;

#define AIRLOCK_ANSWER_INIT {.size = sizeof(airlock_answer)}

typedef struct airlock_lease airlock_lease;

/* Enters, or waits for its turn for at most `max_wait` (0 or less: one question, the line is not joined).
 * DONE: *lease is the admission. REFUSED: *answer says why. `answer` may be NULL. */
AIRLOCK_API int32_t airlock_enter(const airlock_gate *gate, const airlock_ask *ask, int64_t max_wait, airlock_lease **lease,
                                  airlock_answer *answer, airlock_error *error);

/* For visitors that come and go, as browsers: what they get is a token. DONE, QUEUED or REFUSED. */
AIRLOCK_API int32_t airlock_visitor_admit(const airlock_gate *gate, airlock_visitor visitor, const airlock_ask *ask,
                                          airlock_answer *answer, airlock_error *error);
/* The same for one that has a place. DONE: in. QUEUED: not yet. NOTHING: it has no place. */
AIRLOCK_API int32_t airlock_visitor_claim(const airlock_gate *gate, airlock_visitor visitor, airlock_answer *answer,
                                          airlock_error *error);
/* Gives up the place, or what was handed over. NOTHING: it had neither. */
AIRLOCK_API int32_t airlock_visitor_leave(const airlock_gate *gate, airlock_visitor visitor, airlock_error *error);
/* It does not listen at the moment: passed over until it asks again; its place is kept until its patience ends.
 * NOTHING: it has no place. */
AIRLOCK_API int32_t airlock_visitor_mark_absent(const airlock_gate *gate, airlock_visitor visitor, airlock_error *error);

/* --- One gate for each of many keys -------------------------------------------------------------------- */

typedef struct airlock_keyed airlock_keyed;

/* Of the options, order, exclusive, barging, refuse_late, patience, claim_window and aging_* must be 0. */
AIRLOCK_API int32_t airlock_keyed_open(const airlock_store *store, airlock_text prefix, const airlock_gate_options *options,
                                       airlock_keyed **keyed, airlock_error *error);
AIRLOCK_API void airlock_keyed_free(airlock_keyed *keyed);
/* Any bytes are a key. As airlock_enter(); interruptible must be 0. */
AIRLOCK_API int32_t airlock_keyed_enter(const airlock_keyed *keyed, airlock_text key, const airlock_ask *ask,
                                        int64_t max_wait, airlock_lease **lease, airlock_answer *answer,
                                        airlock_error *error);

/* --- Event isolation: one lock per key, in order of arrival --------------------------------------------- */

typedef struct airlock_isolation airlock_isolation;

/* ttl 0: 60 s; max_hold 0: no bound. */
AIRLOCK_API int32_t airlock_isolation_open(const airlock_store *store, int64_t ttl, int64_t max_hold,
                                           airlock_isolation **isolation, airlock_error *error);
AIRLOCK_API void airlock_isolation_free(airlock_isolation *isolation);
AIRLOCK_API int32_t airlock_isolation_lock(const airlock_isolation *isolation, airlock_text key, int64_t max_wait,
                                           airlock_lease **lease, airlock_answer *answer, airlock_error *error);

/* --- Leases ----------------------------------------------------------------------------------------------- */

/* Gives back if that is still to be done, without waiting for the network. After it, no event of
 * airlock_lease_watch() for this lease is taken from a mailbox. */
AIRLOCK_API void airlock_lease_free(airlock_lease *lease);
/* Gives back and waits for the answer. GONE: it had already ended. FAILED: it is tried again in the background. In any
 * case the lease is empty then; a second call does nothing and is DONE. */
AIRLOCK_API int32_t airlock_lease_release(airlock_lease *lease, airlock_error *error);

/* Clock reads, a little early rather than late. Of an empty lease (released, detached, NULL, a parent's): 0. */
AIRLOCK_API int32_t airlock_lease_valid(const airlock_lease *lease); /* 1 or 0 */
AIRLOCK_API int64_t airlock_lease_remaining(const airlock_lease *lease);
AIRLOCK_API uint64_t airlock_lease_fence(const airlock_lease *lease);
AIRLOCK_API int64_t airlock_lease_slot(const airlock_lease *lease);    /* -1: none */
AIRLOCK_API int32_t airlock_lease_guarded(const airlock_lease *lease); /* 0: an outage policy let it in. */
/* NOTHING: the lease is empty, or has nothing to release (rates only, or let in by an outage policy). */
AIRLOCK_API int32_t airlock_lease_token(const airlock_lease *lease, char token[AIRLOCK_TOKEN_SIZE], airlock_error *error);

/* From now on the admission outlives this process and belongs to whoever has the text. GONE: it had ended, or there is
 * nothing to detach. After DONE the lease is empty, and still to be freed. */
AIRLOCK_API int32_t airlock_lease_detach(airlock_lease *lease, char token[AIRLOCK_TOKEN_SIZE], airlock_error *error);
/* Takes up a detached token, and renews it for `ttl` (0: 30 s) from now on. GONE: it had ended. */
AIRLOCK_API int32_t airlock_lease_adopt(const airlock_store *store, airlock_text token, int64_t ttl, airlock_lease **lease,
                                        airlock_error *error);

/* Tokens that nobody keeps alive. GONE: it had ended. renew: it lasts `ttl` from now. */
AIRLOCK_API int32_t airlock_token_renew(const airlock_store *store, airlock_text token, int64_t ttl, airlock_error *error);
AIRLOCK_API int32_t airlock_token_release(const airlock_store *store, airlock_text token, airlock_error *error);
AIRLOCK_API int32_t airlock_token_holds(const airlock_store *store, airlock_text token, airlock_error *error);

/* What is written in a token's text; the store is not asked. INVALID for what airlock did not write. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  uint64_t store;
  uint64_t fence;
  airlock_visitor visitor;
  char gate[AIRLOCK_NAME_SIZE];
} airlock_token_parts;
AIRLOCK_API int32_t airlock_token_parse(airlock_text token, airlock_token_parts *parts, airlock_error *error);

/* --- Seals: one question, no line, nothing renewed by itself ------------------------------------------- */

typedef struct airlock_seal airlock_seal;

/* ttl 0: 300 s. limit 0 is INVALID; weight 0: 1. */
AIRLOCK_API int32_t airlock_seal_lock(const airlock_store *store, airlock_text gate, int64_t ttl, airlock_seal **seal,
                                      airlock_error *error);
AIRLOCK_API int32_t airlock_seal_semaphore(const airlock_store *store, airlock_text gate, uint32_t limit, uint32_t weight,
                                           int64_t ttl, airlock_seal **seal, airlock_error *error);
AIRLOCK_API int32_t airlock_seal_cooldown(const airlock_store *store, airlock_text gate, int64_t period,
                                          airlock_seal **seal, airlock_error *error);
/* dedupe: a visitor that asks again within this time finds its first answer and pays once. 0: it pays again. */
AIRLOCK_API int32_t airlock_seal_rates(const airlock_store *store, airlock_text gate, const airlock_rate *rates,
                                       size_t rate_count, int64_t dedupe, airlock_seal **seal, airlock_error *error);
/* A lock or semaphore, and a cooldown or rates: both must let in. Both parts may be freed afterwards. */
AIRLOCK_API int32_t airlock_seal_composite(const airlock_seal *lock, const airlock_seal *other, airlock_seal **seal,
                                           airlock_error *error);
AIRLOCK_API void airlock_seal_free(airlock_seal *seal);

/* 1: what this seal grants can be released and renewed. */
AIRLOCK_API int32_t airlock_seal_is_locking(const airlock_seal *seal);
/* 1: it decides in one step. */
AIRLOCK_API int32_t airlock_seal_is_atomic(const airlock_seal *seal);

typedef struct {
  uint32_t size;
  uint32_t cost;                  /* Of rates, also in a composite. 0: 1. */
  const airlock_visitor *visitor; /* NULL: a random one. */
  airlock_text label;
} airlock_seal_ask;

/* DONE: *answer has the token. REFUSED: why. `ask` may be NULL. */
AIRLOCK_API int32_t airlock_seal_try(const airlock_seal *seal, const airlock_seal_ask *ask, airlock_answer *answer,
                                     airlock_error *error);
/* INVALID for a token of another gate or store, and for a seal that grants nothing to release. */
AIRLOCK_API int32_t airlock_seal_release(const airlock_seal *seal, airlock_text token, airlock_error *error);
/* ttl 0: that of the seal. *answer has the new deadline. */
AIRLOCK_API int32_t airlock_seal_renew(const airlock_seal *seal, airlock_text token, int64_t ttl, airlock_answer *answer,
                                       airlock_error *error);
/* DONE: it is live in the store. GONE: it is not. */
AIRLOCK_API int32_t airlock_seal_holds(const airlock_seal *seal, airlock_text token, airlock_error *error);
/* A clock read: how long an admission of this locking seal with this deadline lasts; 0: it has ended. */
AIRLOCK_API int64_t airlock_seal_remaining(const airlock_seal *seal, int64_t deadline);

typedef enum {
  AIRLOCK_TAKE = 0,    /* All of the cost, or nothing. */
  AIRLOCK_PEEK = 1,    /* As take would answer; takes nothing. */
  AIRLOCK_AT_MOST = 2, /* As much as there is, at least 1: answer.taken. */
  AIRLOCK_RESERVE = 3  /* Takes it for use after answer.delay; a longer one than max_delay is refused. */
} airlock_mode;

/* Of a seal made by airlock_seal_rates(). cost 0: 1. max_delay is for AIRLOCK_RESERVE and else 0. */
AIRLOCK_API int32_t airlock_seal_take(const airlock_seal *rates, int32_t mode, uint32_t cost, int64_t max_delay,
                                      airlock_answer *answer, airlock_error *error);

/* --- Mailboxes: waiting without a thread --------------------------------------------------------------- */

typedef struct airlock_mailbox airlock_mailbox;

typedef enum {
  AIRLOCK_EVENT_GRANTED = 1,   /* event.lease is yours: free it. */
  AIRLOCK_EVENT_REFUSED = 2,   /* *answer says why. */
  AIRLOCK_EVENT_FAILED = 3,    /* *error says why. */
  AIRLOCK_EVENT_CANCELLED = 4, /* airlock_mailbox_cancel() ended the wait. */
  AIRLOCK_EVENT_LOST = 5       /* A lease that is watched is gone, or can no longer be proven. */
} airlock_event_kind;

/* `size` covers at least these fields, so that no lease is lost. */
typedef struct {
  uint32_t size;
  int32_t kind; /* airlock_event_kind */
  uint64_t tag; /* Of the call that it answers. */
  airlock_lease *lease;
} airlock_event;

/* In a forked child nothing comes from its parent's mailbox: make another one. */
AIRLOCK_API int32_t airlock_mailbox_open(airlock_mailbox **mailbox, airlock_error *error);
/* What still waits for entry leaves; what was granted and not taken out is given back. In a forked child it frees the
 * handle and closes the child's descriptor, and nothing else. */
AIRLOCK_API void airlock_mailbox_free(airlock_mailbox *mailbox);
/* Readable while there is an event: for poll(2) and its kin. Not to be read or closed. -1 for NULL. */
AIRLOCK_API int32_t airlock_mailbox_fd(const airlock_mailbox *mailbox);
/* Takes out one event, and what belongs to it: DONE. NOTHING: there is none. Never waits. `answer` may be NULL. An event
 * of kind FAILED writes to *error although the status is DONE. */
AIRLOCK_API int32_t airlock_mailbox_next(airlock_mailbox *mailbox, airlock_event *event, airlock_answer *answer,
                                         airlock_error *error);

/* Never blocks: takes a place, and DONE promises exactly one event with this tag, at the latest when `max_wait` is up.
 * After another status none comes. Two waits with one tag cannot be told apart, and are cancelled together. */
AIRLOCK_API int32_t airlock_enter_async(const airlock_gate *gate, const airlock_ask *ask, int64_t max_wait,
                                        airlock_mailbox *mailbox, uint64_t tag, airlock_error *error);
/* The same, and what the store answers at once (memory: and shm: do where nobody waits) makes no event: DONE, with *lease,
 * or REFUSED, with *answer, which may be NULL. QUEUED: exactly one event with this tag will come. */
AIRLOCK_API int32_t airlock_enter_begin(const airlock_gate *gate, const airlock_ask *ask, int64_t max_wait,
                                        airlock_mailbox *mailbox, uint64_t tag, airlock_lease **lease,
                                        airlock_answer *answer, airlock_error *error);
/* Leaves the line. The event comes all the same: CANCELLED, or what was decided before. NOTHING: there is no wait with
 * this tag, or its event is there already. */
AIRLOCK_API int32_t airlock_mailbox_cancel(airlock_mailbox *mailbox, uint64_t tag, airlock_error *error);
/* An AIRLOCK_EVENT_LOST with this tag when the lease is lost before it is released, detached or freed. Starts a thread. */
AIRLOCK_API int32_t airlock_lease_watch(airlock_lease *lease, airlock_mailbox *mailbox, uint64_t tag, airlock_error *error);

/* --- For operators ---------------------------------------------------------------------------------------- */

/* Lists, texts and views are the caller's to free; what they point to lives as long as they do. */
typedef struct airlock_list airlock_list;
AIRLOCK_API size_t airlock_list_size(const airlock_list *list);
AIRLOCK_API airlock_text airlock_list_at(const airlock_list *list, size_t index); /* {NULL, 0} beyond the end. */
AIRLOCK_API void airlock_list_free(airlock_list *list);

/* Names of all gates, sorted. */
AIRLOCK_API int32_t airlock_gates(const airlock_store *store, airlock_list **names, airlock_error *error);
/* Prometheus text; a list of one. */
AIRLOCK_API int32_t airlock_metrics(const airlock_store *store, airlock_list **text, airlock_error *error);
/* What an operator should know: "good: ...", "warning: ...", "problem: ...", and after "; " what to do. */
AIRLOCK_API int32_t airlock_doctor(const airlock_store *store, airlock_list **findings, airlock_error *error);

typedef struct {
  uint32_t size;
  uint32_t in_use; /* Weight; a lock counts as 1 of 1. */
  uint32_t limit;  /* In effect now. */
  uint32_t overridden;
  uint32_t holders;
  uint32_t waiting;
  uint32_t exclusive;
} airlock_counts;

/* Of a gate nobody has used, all are 0. */
AIRLOCK_API int32_t airlock_count(const airlock_store *store, airlock_text gate, airlock_counts *counts,
                                  airlock_error *error);

typedef struct {
  uint32_t size;
  uint32_t weight;
  airlock_visitor visitor;
  airlock_text label;
  uint64_t fence;
  int64_t slot;
  int64_t age;
  int64_t remaining;
  uint32_t claimed; /* 0: handed over and not claimed yet. */
  uint32_t revoked;
  uint32_t detached;
} airlock_holder;

typedef struct {
  uint32_t size;
  uint32_t weight;
  airlock_visitor visitor;
  airlock_text label;
  int64_t waited;
  uint32_t priority;
  uint32_t present; /* 0: passed over until it asks again. */
  uint32_t detached;
} airlock_waiter;

typedef struct {
  uint32_t size;
  uint32_t limits_disagree;
  uint32_t in_use; /* As in airlock_counts. */
  uint32_t limit;
  int64_t override_limit; /* -1: none */
  uint32_t exclusive;
  int32_t order; /* airlock_order */
  uint64_t last_fence;
  size_t holders; /* How many airlock_view_holder() has. */
  size_t waiters;
  size_t rates;
  size_t pauses;
  uint64_t granted;
  uint64_t refused[6]; /* By airlock_reason. */
  uint64_t expired;
  uint64_t revoked;
  uint64_t died;
  uint64_t missed;
  uint64_t abandoned;
} airlock_summary;

typedef struct airlock_view airlock_view;
/* Holders oldest first, waiters in the order of service. NOTHING: the store does not know the gate. */
AIRLOCK_API int32_t airlock_look(const airlock_store *store, airlock_text gate, airlock_view **view, airlock_error *error);
AIRLOCK_API void airlock_view_free(airlock_view *view);
/* Of one index: NOTHING beyond the end. */
AIRLOCK_API int32_t airlock_view_summary(const airlock_view *view, airlock_summary *summary, airlock_error *error);
AIRLOCK_API int32_t airlock_view_holder(const airlock_view *view, size_t index, airlock_holder *holder, airlock_error *error);
AIRLOCK_API int32_t airlock_view_waiter(const airlock_view *view, size_t index, airlock_waiter *waiter, airlock_error *error);
AIRLOCK_API int32_t airlock_view_rate(const airlock_view *view, size_t index, airlock_rate *rate, airlock_rate_info *info,
                                      airlock_error *error);
/* reporter empty: the operator. */
AIRLOCK_API int32_t airlock_view_pause(const airlock_view *view, size_t index, airlock_text *reporter, int64_t *remaining,
                                       airlock_error *error);

/* Overrides every caller's own limit until it is cleared. */
AIRLOCK_API int32_t airlock_limit_set(const airlock_store *store, airlock_text gate, uint32_t limit, airlock_error *error);
AIRLOCK_API int32_t airlock_limit_clear(const airlock_store *store, airlock_text gate, airlock_error *error);
/* Admits nobody for so long. reporter empty: the operator. resume: NOTHING if there was no pause of that reporter. */
AIRLOCK_API int32_t airlock_pause(const airlock_store *store, airlock_text gate, int64_t duration, airlock_text reporter,
                                  airlock_error *error);
AIRLOCK_API int32_t airlock_resume(const airlock_store *store, airlock_text gate, airlock_text reporter,
                                   airlock_error *error);
/* visitor NULL: everybody. now 0: the holder is notified, and the slot moves on release or after a third of the ttl.
 * *count (may be NULL): how many. */
AIRLOCK_API int32_t airlock_revoke(const airlock_store *store, airlock_text gate, const airlock_visitor *visitor, int32_t now,
                                   size_t *count, airlock_error *error);
/* Forgets all of a gate but its fence. NOTHING: not known. */
AIRLOCK_API int32_t airlock_purge(const airlock_store *store, airlock_text gate, airlock_error *error);

#ifdef __cplusplus
}
#endif

#endif

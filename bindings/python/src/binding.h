/*
 * What the sources of the extension module share.
 *
 * Rules:
 * - Only CPython's limited API of 3.9, so that one binary serves every later version.
 * - A handle that another thread may want is taken out of its object before the GIL is released.
 * - The GIL is released for whatever may wait: an entry with a bound above 0, and every call of a store that is
 *   not local. A local store (memory:, shm:) answers sooner than the GIL changes hands.
 */
#ifndef AIRLOCK_PYTHON_BINDING_H
#define AIRLOCK_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <structmember.h> /* After Python.h. */

#include "airlock.h"

#define SPARE_MAILBOXES 4

/* Of one module. Objects have a pointer to it: their types keep the module alive. */
typedef struct {
  PyObject* error;
  PyObject* refused;
  PyObject* store_error;
  PyObject* lease_expired;
  PyTypeObject* store_type;
  PyTypeObject* gate_type;
  PyTypeObject* lease_type;
  PyTypeObject* mailbox_type;
  PyTypeObject* seal_type;
  unsigned long main_thread;
  airlock_mailbox* spares[SPARE_MAILBOXES]; /* For waits of the main thread; spare_count of them. */
  int spare_count;
  uint64_t forks; /* How many forks this process is away from the one that imported the module. */
} State;

typedef struct {
  PyObject_HEAD State* state;
  airlock_store* store;
  int local; /* memory: or shm: */
  PyObject* weak;
} StoreObject;

/* Runs a call that waits for the network where the store is not local. The result of `call` is assigned to `status`. */
#define CALL_STORE(status, is_local, call) \
  do {                                     \
    if (is_local) {                        \
      (status) = (call);                   \
    } else {                               \
      Py_BEGIN_ALLOW_THREADS;              \
      (status) = (call);                   \
      Py_END_ALLOW_THREADS;                \
    }                                      \
  } while (0)

typedef struct {
  PyObject_HEAD State* state;
  airlock_lease* lease; /* NULL: released, detached. */
  uint64_t fence;
  int64_t slot;
  int local;
} LeaseObject;

/* The leases of `with` blocks that are open now: blocks.c. */
typedef struct {
  PyObject* frame;
  PyObject* lease;
} Block;

typedef struct {
  Block* items;
  Py_ssize_t count;
  Py_ssize_t capacity;
} Blocks;

typedef struct {
  PyObject_HEAD State* state;
  PyObject* store;
  PyObject* name; /* str */
  airlock_gate* gate;
  int64_t max_wait;
  uint32_t limit;
  int local;
  Blocks blocks;
} GateObject;

/* The state of the module that `type`, or a class it is derived from, belongs to; NULL with an exception. */
State* state_of(PyTypeObject* type);
State* state_of_module(PyObject* module);

/* --- Conversions (convert.c). 0 or -1 with an exception; `name` is for its text. ----------------------- */

typedef struct {
  PyObject* owner; /* Release with drop_text(). */
  airlock_text text;
} Text;

int text_from(PyObject* object, const char* name, Text* text);  /* str */
int bytes_from(PyObject* object, const char* name, Text* text); /* str, bytes */
void drop_text(Text* text);
/* Seconds; None is `none`. Not negative, not NaN. */
int seconds_from(PyObject* object, const char* name, int64_t none, int64_t* duration);
int count_from(PyObject* object, const char* name, uint32_t* count);
/* One of `choices`, which ends with NULL; its index. */
int choice_from(PyObject* object, const char* name, const char* const* choices, int32_t* choice);
/* Rates as texts: a str or a sequence of str. *rates is to be freed with PyMem_Free. */
int rates_from(PyObject* object, airlock_rate** rates, size_t* count);
int visitor_from(State* state, PyObject* object, airlock_visitor* visitor);
/* A float; inf for AIRLOCK_FOREVER. */
PyObject* seconds_object(int64_t duration);
PyObject* text_object(airlock_text text);

/* --- Errors (errors.c) --------------------------------------------------------------------------------------- */

/* Raises what a failure, a status below 0, stands for. Returns NULL. */
PyObject* raise_failure(State* state, int32_t status, const airlock_error* error);
/* Raises Refused. */
PyObject* raise_refused(State* state, PyObject* gate, uint32_t limit, const airlock_answer* answer);
PyObject* raise_expired(State* state);
int add_exceptions(PyObject* module, State* state);

/* An error to write into; its text is left as it is because writing all of it takes time. */
static inline void init_error(airlock_error* error) {
  error->size = sizeof *error;
  error->status = error->kind = error->outcome = 0;
  error->text[0] = '\0';
}

/* As AIRLOCK_ANSWER_INIT, for answers whose token nobody asks for. */
static inline void init_short_answer(airlock_answer* answer) {
  memset(answer, 0, offsetof(airlock_answer, token));
  answer->size = offsetof(airlock_answer, token);
  answer->token[0] = '\0';
}

/* --- Objects ------------------------------------------------------------------------------------------------- */

extern PyType_Spec store_spec, gate_spec, lease_spec, mailbox_spec, seal_spec;
/* Of the type Store. */
PyObject* store_count(StoreObject* store, PyObject* gate);
PyObject* store_look(StoreObject* store, PyObject* gate);
PyObject* store_gates(StoreObject* store, PyObject* ignored);
PyObject* store_metrics(StoreObject* store, PyObject* ignored);
PyObject* store_doctor(StoreObject* store, PyObject* ignored);
PyObject* store_set_limit(StoreObject* store, PyObject* args);
PyObject* store_pause(StoreObject* store, PyObject* args, PyObject* keywords);
PyObject* store_resume(StoreObject* store, PyObject* args, PyObject* keywords);
PyObject* store_revoke(StoreObject* store, PyObject* args, PyObject* keywords);
PyObject* store_purge(StoreObject* store, PyObject* gate);
/* Of the type Gate, for visitors that come and go. */
PyObject* gate_admit(GateObject* gate, PyObject* args, PyObject* keywords);
PyObject* gate_claim(GateObject* gate, PyObject* visitor);
PyObject* gate_leave(GateObject* gate, PyObject* visitor);
PyObject* gate_mark_absent(GateObject* gate, PyObject* visitor);
/* Functions of the module that make seals. */
extern PyMethodDef seal_functions[];

PyObject* new_lease(State* state, airlock_lease* lease, int local);
/* Borrowed; NULL with a TypeError for what is no store. */
StoreObject* store_argument(State* state, PyObject* object);
/* 0: the object was not initialised, and an exception is set. */
int is_open_gate(GateObject* gate);
/* A tp_new for types that Python code makes in other ways. */
PyObject* refuse_to_make(PyTypeObject* type, PyObject* args, PyObject* keywords);
/* (limit, remaining, retry_after, reset_after, taken, delay) */
PyObject* rate_state(const airlock_answer* answer);

/* How one caller wants in, from the keyword arguments of acquire. */
typedef struct {
  airlock_ask ask;
  Text label;
} Ask;
int ask_from(PyObject* weight, PyObject* priority, PyObject* cost, PyObject* label, Ask* ask);
void drop_ask(Ask* ask);

/* Waits like airlock_enter(), in the main thread, and runs signal handlers meanwhile. The place in the line is kept. Returns
 * a status, or SIGNAL_RAISED with the handler's exception. */
#define SIGNAL_RAISED 100
int32_t enter_with_signals(State* state, const airlock_gate* gate, const airlock_ask* ask,
                           int64_t max_wait, airlock_lease** lease, airlock_answer* answer,
                           airlock_error* error);
void drop_spare_mailboxes(State* state);

/* --- `with` blocks (blocks.c) --------------------------------------------------------------------------------- */

/* Notes that the block of `frame` holds `lease`. */
int blocks_push(Blocks* blocks, PyObject* frame, PyObject* lease);
/* The lease of the block that `frame` closes; NULL without an exception: there is none. */
PyObject* blocks_pop(Blocks* blocks, PyObject* frame);
int blocks_traverse(Blocks* blocks, visitproc visit, void* arg);
void blocks_clear(Blocks* blocks);

#endif

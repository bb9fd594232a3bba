/* Store: where gates live. */

#include "binding.h"

StoreObject* store_argument(State* state, PyObject* object) {
  if (PyObject_TypeCheck(object, state->store_type)) return (StoreObject*)object;
  PyErr_SetString(PyExc_TypeError, "store must be an airlock.Store; airlock.open(uri) makes one");
  return NULL;
}

static int is_local_uri(airlock_text uri) {
  return (uri.size >= 7 && memcmp(uri.data, "memory:", 7) == 0) ||
         (uri.size >= 4 && memcmp(uri.data, "shm:", 4) == 0);
}

static PyObject* store_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"uri", NULL};
  PyObject* uri;
  Text text;
  State* state = state_of(type);
  if (state == NULL || !PyArg_ParseTupleAndKeywords(args, keywords, "O:Store", names, &uri))
    return NULL;
  if (text_from(uri, "uri", &text) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_store* opened = NULL;
  const int32_t status = airlock_store_open(text.text, &opened, &error);
  const int local = is_local_uri(text.text);
  drop_text(&text);
  if (status != AIRLOCK_DONE) return raise_failure(state, status, &error);
  StoreObject* store = PyObject_New(StoreObject, type);
  if (store == NULL) {
    airlock_store_free(opened);
    return NULL;
  }
  store->state = state;
  store->store = opened;
  store->local = local;
  store->weak = NULL;
  return (PyObject*)store;
}

static void store_dealloc(StoreObject* store) {
  PyTypeObject* type = Py_TYPE(store);
  PyObject_ClearWeakRefs((PyObject*)store);
  airlock_store* handle = store->store;
  Py_BEGIN_ALLOW_THREADS; /* The last handle waits for what is given back in the background. */
  airlock_store_free(handle);
  Py_END_ALLOW_THREADS;
  PyObject_Free(store);
  Py_DECREF(type);
}

/* What is done: True or None; NOTHING: False. */
static PyObject* outcome(State* state, int32_t status, const airlock_error* error) {
  if (status == AIRLOCK_GONE) return raise_expired(state);
  if (status < 0) return raise_failure(state, status, error);
  return PyBool_FromLong(status == AIRLOCK_DONE);
}

static PyObject* store_close(StoreObject* store, PyObject* Py_UNUSED(ignored)) {
  airlock_error error;
  init_error(&error);
  int32_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = airlock_store_close(store->store, &error);
  Py_END_ALLOW_THREADS;
  if (status < 0) return raise_failure(store->state, status, &error);
  Py_RETURN_NONE;
}

typedef int32_t (*Finish)(airlock_store* store, int64_t at_most, airlock_error* error);

static PyObject* finish(StoreObject* store, PyObject* args, PyObject* keywords, Finish function) {
  static char* names[] = {"timeout", NULL};
  PyObject* timeout;
  int64_t at_most;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O", names, &timeout)) return NULL;
  if (seconds_from(timeout, "timeout", AIRLOCK_FOREVER, &at_most) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = function(store->store, at_most, &error);
  Py_END_ALLOW_THREADS;
  return outcome(store->state, status, &error);
}

static PyObject* store_drain(StoreObject* store, PyObject* args, PyObject* keywords) {
  return finish(store, args, keywords, airlock_store_drain);
}

static PyObject* store_flush(StoreObject* store, PyObject* args, PyObject* keywords) {
  return finish(store, args, keywords, airlock_store_flush);
}

/* token and ttl, for what is done with tokens. */
static int token_arguments(PyObject* args, PyObject* keywords, const char* format, Text* token,
                           int64_t* ttl) {
  static char* names[] = {"token", "ttl", NULL};
  PyObject *text, *seconds = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &text, &seconds)) return -1;
  *ttl = 30 * AIRLOCK_SECOND;
  if (seconds != NULL && seconds_from(seconds, "ttl", *ttl, ttl) < 0) return -1;
  return text_from(text, "token", token);
}

static PyObject* store_adopt(StoreObject* store, PyObject* args, PyObject* keywords) {
  Text token;
  int64_t ttl;
  if (token_arguments(args, keywords, "O|O:adopt", &token, &ttl) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_lease* lease = NULL;
  int32_t status;
  CALL_STORE(status, store->local,
             airlock_lease_adopt(store->store, token.text, ttl, &lease, &error));
  drop_text(&token);
  if (status == AIRLOCK_DONE) return new_lease(store->state, lease, store->local);
  return outcome(store->state, status, &error);
}

static PyObject* store_renew(StoreObject* store, PyObject* args, PyObject* keywords) {
  Text token;
  int64_t ttl;
  if (token_arguments(args, keywords, "OO:renew", &token, &ttl) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  CALL_STORE(status, store->local, airlock_token_renew(store->store, token.text, ttl, &error));
  drop_text(&token);
  if (status == AIRLOCK_DONE) Py_RETURN_NONE;
  return outcome(store->state, status, &error);
}

static PyObject* store_release(StoreObject* store, PyObject* object) {
  Text token;
  if (text_from(object, "token", &token) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  CALL_STORE(status, store->local, airlock_token_release(store->store, token.text, &error));
  drop_text(&token);
  if (status == AIRLOCK_DONE) Py_RETURN_NONE;
  return outcome(store->state, status, &error);
}

static PyObject* store_holds(StoreObject* store, PyObject* object) {
  Text token;
  if (text_from(object, "token", &token) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  CALL_STORE(status, store->local, airlock_token_holds(store->store, token.text, &error));
  drop_text(&token);
  if (status == AIRLOCK_GONE) Py_RETURN_FALSE;
  return outcome(store->state, status, &error);
}

static PyObject* store_enter(PyObject* store, PyObject* Py_UNUSED(ignored)) {
  Py_INCREF(store);
  return store;
}

static PyObject* store_exit(StoreObject* store, PyObject* Py_UNUSED(exception)) {
  PyObject* closed = store_close(store, NULL);
  if (closed == NULL) return NULL;
  Py_DECREF(closed);
  Py_RETURN_FALSE;
}

static PyObject* store_local(StoreObject* store, void* Py_UNUSED(closure)) {
  return PyBool_FromLong(store->local);
}

static PyObject* store_repr(StoreObject* store) {
  return PyUnicode_FromFormat("<airlock.Store, %s>", store->local ? "of this host" : "of a fleet");
}

static PyObject* store_reduce(PyObject* Py_UNUSED(store), PyObject* Py_UNUSED(ignored)) {
  PyErr_SetString(PyExc_TypeError, "a Store cannot be pickled: open its URI in the other process");
  return NULL;
}

#define WITH_KEYWORDS(function) \
  (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef store_methods[] = {
    {"close", (PyCFunction)store_close, METH_NOARGS,
     "close($self)\n--\n\nLet nobody of this process in any more; waits end with a StoreError of "
     "kind "
     "'closed'."},
    {"drain", WITH_KEYWORDS(store_drain),
     "drain($self, timeout)\n--\n\nWait until this process holds no lease. False: the time was up "
     "before."},
    {"flush", WITH_KEYWORDS(store_flush),
     "flush($self, timeout)\n--\n\nWait until what was given back in the background has reached "
     "the "
     "store. False: the time was up."},
    {"adopt", WITH_KEYWORDS(store_adopt),
     "adopt($self, token, ttl=30)\n--\n\nTake up a detached token as a Lease, renewed from now on. "
     "LeaseExpired if it had ended."},
    {"renew", WITH_KEYWORDS(store_renew),
     "renew($self, token, ttl)\n--\n\nProlong a detached admission. LeaseExpired if it had ended."},
    {"release", (PyCFunction)store_release, METH_O,
     "release($self, token, /)\n--\n\nEnd a detached admission. LeaseExpired if it had ended."},
    {"holds", (PyCFunction)store_holds, METH_O,
     "holds($self, token, /)\n--\n\nWhether the admission lasts. Asks the store."},
    {"gates", (PyCFunction)store_gates, METH_NOARGS,
     "gates($self)\n--\n\nThe names of all gates, sorted."},
    {"metrics", (PyCFunction)store_metrics, METH_NOARGS,
     "metrics($self)\n--\n\nThe metrics of all gates as Prometheus text."},
    {"doctor", (PyCFunction)store_doctor, METH_NOARGS,
     "doctor($self)\n--\n\nWhat an operator should know, as a list of texts."},
    {"count", (PyCFunction)store_count, METH_O,
     "count($self, gate, /)\n--\n\nA dict: in_use, limit, holders, waiting, overridden, exclusive. "
     "All 0 for "
     "a gate nobody has used."},
    {"look", (PyCFunction)store_look, METH_O,
     "look($self, gate, /)\n--\n\nA dict with holders, line, rates, pauses and counters; None for "
     "a gate the "
     "store does not know."},
    {"set_limit", (PyCFunction)store_set_limit, METH_VARARGS,
     "set_limit($self, gate, limit, /)\n--\n\nOverride every caller's limit; None: no longer."},
    {"pause", WITH_KEYWORDS(store_pause),
     "pause($self, gate, duration, reporter='')\n--\n\nAdmit nobody for so many seconds."},
    {"resume", WITH_KEYWORDS(store_resume),
     "resume($self, gate, reporter='')\n--\n\nEnd the pause of that reporter. False: there was "
     "none."},
    {"revoke", WITH_KEYWORDS(store_revoke),
     "revoke($self, gate, now=False)\n--\n\nEnd all admissions of the gate; not now: after a third "
     "of the "
     "ttl at the latest. How many."},
    {"purge", (PyCFunction)store_purge, METH_O,
     "purge($self, gate, /)\n--\n\nForget all of a gate but its fence. False: the store does not "
     "know it."},
    {"__enter__", store_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)store_exit, METH_VARARGS, NULL},
    {"__reduce__", store_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef store_members[] = {
    {"is_local", (getter)store_local, NULL, "Whether its state is on this host: memory: or shm:.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef store_fields[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(StoreObject, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot store_slots[] = {
    {Py_tp_doc,
     "Store(uri)\n--\n\nWhere gates live: 'memory:', 'shm:', 'redis://...'. Only parses; it is "
     "reached on first use.\n\n"
     "Usable by all threads and after fork(). As a context manager it is closed at the end."},
    {Py_tp_new, store_new},
    {Py_tp_dealloc, store_dealloc},
    {Py_tp_methods, store_methods},
    {Py_tp_getset, store_members},
    {Py_tp_members, store_fields},
    {Py_tp_repr, store_repr},
    {0, NULL},
};

PyType_Spec store_spec = {"airlock.Store", sizeof(StoreObject), 0, Py_TPFLAGS_DEFAULT, store_slots};

/* Failures and refusals as exceptions. */
#include "binding.h"

static const char kError[] = "Base of every exception of this module but ValueError and TypeError.";
static const char kRefused[] =
    "Not admitted: an answer and not a failure.\n\n"
    "reason: 'full', 'rate', 'paused', 'line_full', 'late' or 'never'; retry_after: seconds before "
    "which asking again is\n"
    "pointless, inf for never; waited: seconds this call was kept; gate: its name; limit: its "
    "limit, 0 for none.";
static const char kStoreError[] =
    "The store failed; it does not mean that there was no room.\n\n"
    "kind: 'unavailable', 'busy', 'no_room', 'closed' or 'incompatible'; outcome: "
    "'nothing_happened', or 'unknown' where the\n"
    "question may have been decided.";
static const char kLeaseExpired[] =
    "The admission had already ended: stop the work that it guarded.";

static const char* kind_text(int32_t kind) {
  switch (kind) {
    case AIRLOCK_KIND_UNAVAILABLE:
      return "unavailable";
    case AIRLOCK_KIND_BUSY:
      return "busy";
    case AIRLOCK_KIND_NO_ROOM:
      return "no_room";
    case AIRLOCK_KIND_CLOSED:
      return "closed";
    case AIRLOCK_KIND_INCOMPATIBLE:
      return "incompatible";
    default:
      return "unknown";
  }
}

/* Takes `value`. */
static int set_attribute(PyObject* object, const char* name, PyObject* value) {
  if (value == NULL) return -1;
  const int result = PyObject_SetAttrString(object, name, value);
  Py_DECREF(value);
  return result;
}

static PyObject* raise_store_error(State* state, const airlock_error* error) {
  PyObject* text = PyUnicode_DecodeUTF8(error->text, (Py_ssize_t)strlen(error->text), "replace");
  PyObject* raised =
      text == NULL ? NULL : PyObject_CallFunctionObjArgs(state->store_error, text, NULL);
  Py_XDECREF(text);
  if (raised == NULL) return NULL;
  const char* outcome = error->outcome == AIRLOCK_NOTHING_HAPPENED ? "nothing_happened" : "unknown";
  if (set_attribute(raised, "kind", PyUnicode_FromString(kind_text(error->kind))) == 0 &&
      set_attribute(raised, "outcome", PyUnicode_FromString(outcome)) == 0) {
    PyErr_SetObject(state->store_error, raised);
  }
  Py_DECREF(raised);
  return NULL;
}

PyObject* raise_failure(State* state, int32_t status, const airlock_error* error) {
  switch (status) {
    case AIRLOCK_INVALID:
      PyErr_SetString(PyExc_ValueError, error->text);
      return NULL;
    case AIRLOCK_FAILED:
      return raise_store_error(state, error);
    case AIRLOCK_NO_MEMORY:
      return PyErr_NoMemory();
    case SIGNAL_RAISED:
      return NULL;
    default:
      PyErr_Format(state->error, "unexpected status %d: %s", (int)status, error->text);
      return NULL;
  }
}

PyObject* raise_refused(State* state, PyObject* gate, uint32_t limit,
                        const airlock_answer* answer) {
  const char* reason = airlock_reason_text(answer->reason);
  char waited[40];
  PyOS_snprintf(waited, sizeof waited, "%.3f", (double)answer->waited / AIRLOCK_SECOND);
  PyObject* text = PyUnicode_FromFormat("%U: refused after %s s: %s", gate, waited, reason);
  PyObject* raised = text == NULL ? NULL : PyObject_CallFunctionObjArgs(state->refused, text, NULL);
  Py_XDECREF(text);
  if (raised == NULL) return NULL;
  Py_INCREF(gate);
  if (set_attribute(raised, "gate", gate) == 0 &&
      set_attribute(raised, "limit", PyLong_FromUnsignedLong(limit)) == 0 &&
      set_attribute(raised, "reason", PyUnicode_FromString(reason)) == 0 &&
      set_attribute(raised, "retry_after", seconds_object(answer->retry_after)) == 0 &&
      set_attribute(raised, "waited", seconds_object(answer->waited)) == 0) {
    PyErr_SetObject(state->refused, raised);
  }
  Py_DECREF(raised);
  return NULL;
}

PyObject* raise_expired(State* state) {
  PyErr_SetString(state->lease_expired,
                  "the lease had already ended: stop the work that it guarded");
  return NULL;
}

static PyObject* add_exception(PyObject* module, const char* name, const char* doc,
                               PyObject* base) {
  char full[64];
  PyOS_snprintf(full, sizeof full, "airlock.%s", name);
  PyObject* exception = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
  if (exception == NULL) return NULL;
  Py_INCREF(exception);
  if (PyModule_AddObject(module, name, exception) < 0) {
    Py_DECREF(exception);
    Py_CLEAR(exception);
  }
  return exception;
}

int add_exceptions(PyObject* module, State* state) {
  state->error = add_exception(module, "Error", kError, NULL);
  if (state->error == NULL) return -1;
  state->refused = add_exception(module, "Refused", kRefused, state->error);
  if (state->refused == NULL) return -1;
  state->store_error = add_exception(module, "StoreError", kStoreError, state->error);
  if (state->store_error == NULL) return -1;
  state->lease_expired = add_exception(module, "LeaseExpired", kLeaseExpired, state->error);
  return state->lease_expired == NULL ? -1 : 0;
}

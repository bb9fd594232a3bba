/* Lease: one admission. */
#include "binding.h"

PyObject* new_lease(State* state, airlock_lease* handle, int local) {
  LeaseObject* lease = PyObject_New(LeaseObject, state->lease_type);
  if (lease == NULL) {
    airlock_lease_free(handle);
    return NULL;
  }
  lease->state = state;
  lease->lease = handle;
  lease->fence = airlock_lease_fence(handle);
  lease->slot = airlock_lease_slot(handle);
  lease->local = local;
  return (PyObject*)lease;
}

static airlock_lease* take_handle(LeaseObject* lease) {
  airlock_lease* handle = lease->lease;
  lease->lease = NULL;
  return handle;
}

static void lease_dealloc(LeaseObject* lease) {
  PyTypeObject* type = Py_TYPE(lease);
  airlock_lease_free(take_handle(lease));
  PyObject_Free(lease);
  Py_DECREF(type);
}

static PyObject* lease_release(LeaseObject* lease, PyObject* Py_UNUSED(ignored)) {
  airlock_lease* handle = take_handle(lease);
  if (handle == NULL) Py_RETURN_NONE;
  State* state = lease->state;
  airlock_error error;
  init_error(&error);
  int32_t status;
  if (lease->local) {
    status = airlock_lease_release(handle, &error);
    airlock_lease_free(handle);
  } else {
    Py_BEGIN_ALLOW_THREADS;
    status = airlock_lease_release(handle, &error);
    airlock_lease_free(handle);
    Py_END_ALLOW_THREADS;
  }
  if (status == AIRLOCK_GONE) return raise_expired(state);
  if (status < 0) return raise_failure(state, status, &error);
  Py_RETURN_NONE;
}

static PyObject* lease_close(LeaseObject* lease, PyObject* Py_UNUSED(ignored)) {
  airlock_lease_free(take_handle(lease));
  Py_RETURN_NONE;
}

static PyObject* lease_detach(LeaseObject* lease, PyObject* Py_UNUSED(ignored)) {
  State* state = lease->state;
  airlock_lease* handle = take_handle(lease);
  if (handle == NULL) return raise_expired(state);
  airlock_error error;
  init_error(&error);
  char token[AIRLOCK_TOKEN_SIZE];
  int32_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = airlock_lease_detach(handle, token, &error);
  Py_END_ALLOW_THREADS;
  if (status < 0 && lease->lease == NULL) { /* Still held: the caller may try again. */
    lease->lease = handle;
    return raise_failure(state, status, &error);
  }
  airlock_lease_free(handle);
  if (status == AIRLOCK_GONE) return raise_expired(state);
  return PyUnicode_FromString(token);
}

static PyObject* lease_enter(PyObject* lease, PyObject* Py_UNUSED(ignored)) {
  Py_INCREF(lease);
  return lease;
}

static PyObject* lease_exit(LeaseObject* lease, PyObject* Py_UNUSED(exception)) {
  airlock_lease_free(take_handle(lease));
  Py_RETURN_FALSE;
}

static PyObject* lease_fence(LeaseObject* lease, void* Py_UNUSED(closure)) {
  return PyLong_FromUnsignedLongLong(lease->fence);
}

static PyObject* lease_slot(LeaseObject* lease, void* Py_UNUSED(closure)) {
  if (lease->slot < 0) Py_RETURN_NONE;
  return PyLong_FromLongLong(lease->slot);
}

static PyObject* lease_valid(LeaseObject* lease, void* Py_UNUSED(closure)) {
  return PyBool_FromLong(airlock_lease_valid(lease->lease));
}

static PyObject* lease_guarded(LeaseObject* lease, void* Py_UNUSED(closure)) {
  return PyBool_FromLong(airlock_lease_guarded(lease->lease));
}

static PyObject* lease_remaining(LeaseObject* lease, void* Py_UNUSED(closure)) {
  return seconds_object(airlock_lease_remaining(lease->lease));
}

static PyObject* lease_token(LeaseObject* lease, void* Py_UNUSED(closure)) {
  char token[AIRLOCK_TOKEN_SIZE];
  airlock_error error;
  if (lease->lease == NULL) return raise_expired(lease->state);
  init_error(&error);
  const int32_t status = airlock_lease_token(lease->lease, token, &error);
  if (status == AIRLOCK_NOTHING) {
    PyErr_SetString(lease->state->error, "the lease has no token: there is nothing to release");
    return NULL;
  }
  if (status < 0) return raise_failure(lease->state, status, &error);
  return PyUnicode_FromString(token);
}

static PyObject* lease_repr(LeaseObject* lease) {
  return PyUnicode_FromFormat("<airlock.Lease %s, fence %llu>",
                              airlock_lease_valid(lease->lease) ? "held" : "ended",
                              (unsigned long long)lease->fence);
}

static PyObject* lease_reduce(PyObject* Py_UNUSED(lease), PyObject* Py_UNUSED(ignored)) {
  PyErr_SetString(PyExc_TypeError,
                  "a Lease cannot be pickled: send detach(), and adopt() it in the other process");
  return NULL;
}

static PyMethodDef lease_methods[] = {
    {"release", (PyCFunction)lease_release, METH_NOARGS,
     "release($self)\n--\n\nGive back and wait for the answer. LeaseExpired if it had already "
     "ended. "
     "Later calls do nothing."},
    {"close", (PyCFunction)lease_close, METH_NOARGS,
     "close($self)\n--\n\nGive back in the background, as the end of a `with` block does. Never "
     "blocks, "
     "never raises."},
    {"detach", (PyCFunction)lease_detach, METH_NOARGS,
     "detach($self)\n--\n\nLet the admission outlive this process. Returns the token that adopt() "
     "takes; keep it out of logs."},
    {"__enter__", lease_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)lease_exit, METH_VARARGS, NULL},
    {"__reduce__", lease_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef lease_members[] = {
    {"fence", (getter)lease_fence, NULL,
     "A number that grows with every admission of the gate; 0: not fenced.", NULL},
    {"slot", (getter)lease_slot, NULL,
     "A number below the limit that no other holder has, or None.", NULL},
    {"valid", (getter)lease_valid, NULL, "Whether it is held for certain. A clock read.", NULL},
    {"guarded", (getter)lease_guarded, NULL, "False: an outage policy let it in.", NULL},
    {"remaining", (getter)lease_remaining, NULL,
     "Seconds for which it is held for certain. A clock read.", NULL},
    {"token", (getter)lease_token, NULL,
     "Its token. Whoever has it can release and renew: keep it out of logs.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyObject* refuse_to_make(PyTypeObject* type, PyObject* Py_UNUSED(args),
                         PyObject* Py_UNUSED(keywords)) {
  PyErr_Format(PyExc_TypeError, "%R is not made by calling its type", type);
  return NULL;
}

static PyType_Slot lease_slots[] = {
    {Py_tp_doc,
     "Holds one admission and gives it back at the end of a `with` block, or when it is "
     "collected.\n\n"
     "Renewed in the background at a third of its ttl. Lost in a forked child."},
    {Py_tp_new, refuse_to_make},
    {Py_tp_dealloc, lease_dealloc},
    {Py_tp_methods, lease_methods},
    {Py_tp_getset, lease_members},
    {Py_tp_repr, lease_repr},
    {0, NULL},
};

PyType_Spec lease_spec = {"airlock.Lease", sizeof(LeaseObject), 0, Py_TPFLAGS_DEFAULT, lease_slots};

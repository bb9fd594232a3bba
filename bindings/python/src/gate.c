/* Gate: what Bulkhead, Lock, Semaphore and the others are made of. */

#include "binding.h"

static const char* const kOrders[] = {"fifo", "priority", "lottery", "aging_lottery", NULL};
static const char* const kOutages[] = {"closed", "open", "local", NULL};

int is_open_gate(GateObject* gate) {
  if (gate->gate != NULL) return 1;
  PyErr_SetString(PyExc_ValueError, "this object was not initialised");
  return 0;
}

static PyObject* gate_new(PyTypeObject* type, PyObject* Py_UNUSED(args),
                          PyObject* Py_UNUSED(keywords)) {
  State* state = state_of(type);
  if (state == NULL) return NULL;
  const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  GateObject* gate = (GateObject*)allocate(type, 0);
  if (gate != NULL) gate->state = state;
  return (PyObject*)gate;
}

static int gate_traverse(GateObject* gate, visitproc visit, void* arg) {
  Py_VISIT(gate->store);
  Py_VISIT(Py_TYPE(gate));
  return blocks_traverse(&gate->blocks, visit, arg);
}

static int gate_clear(GateObject* gate) {
  blocks_clear(&gate->blocks);
  Py_CLEAR(gate->store);
  return 0;
}

static void gate_dealloc(GateObject* gate) {
  PyTypeObject* type = Py_TYPE(gate);
  const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(gate);
  gate_clear(gate);
  Py_CLEAR(gate->name);
  airlock_gate_free(gate->gate);
  release(gate);
  Py_DECREF(type);
}

/* What __init__ is given. */
typedef struct {
  PyObject *store, *name, *limit, *ttl, *max_wait, *max_hold, *rates, *order, *max_waiting, *outage,
      *local_limit, *patience, *claim_window, *aging;
  int exclusive, barging, refuse_late;
} Arguments;

static int parse_gate(PyObject* args, PyObject* keywords, Arguments* given) {
  static char* names[] = {
      "store",        "name",  "limit",       "ttl",     "max_wait",    "max_hold",
      "rates",        "order", "max_waiting", "outage",  "local_limit", "patience",
      "claim_window", "aging", "exclusive",   "barging", "refuse_late", NULL};
  memset(given, 0, sizeof *given);
  return PyArg_ParseTupleAndKeywords(
             args, keywords, "OO|$OOOOOOOOOOOOppp:airlock", names, &given->store, &given->name,
             &given->limit, &given->ttl, &given->max_wait, &given->max_hold, &given->rates,
             &given->order, &given->max_waiting, &given->outage, &given->local_limit,
             &given->patience, &given->claim_window, &given->aging, &given->exclusive,
             &given->barging, &given->refuse_late)
             ? 0
             : -1;
}

/* The C interface has a default for 0, so what is 0 and should not be is refused here. */
static int positive_seconds(PyObject* object, const char* name, int64_t none, int64_t* duration) {
  if (object == NULL) return 0;
  if (seconds_from(object, name, none, duration) < 0) return -1;
  if (*duration > 0 || object == Py_None) return 0;
  PyErr_Format(PyExc_ValueError, "%s must be above 0 seconds", name);
  return -1;
}

static int aging_from(PyObject* aging, airlock_gate_options* options) {
  if (aging == NULL || aging == Py_None) return 0;
  if (!PyTuple_Check(aging) || PyTuple_Size(aging) != 3) {
    PyErr_SetString(PyExc_TypeError, "aging must be a tuple: (base, per_second, max)");
    return -1;
  }
  if (count_from(PyTuple_GetItem(aging, 0), "aging base", &options->aging_base) < 0) return -1;
  if (count_from(PyTuple_GetItem(aging, 1), "aging per_second", &options->aging_per_second) < 0)
    return -1;
  return count_from(PyTuple_GetItem(aging, 2), "aging max", &options->aging_max);
}

static int options_from(const Arguments* given, airlock_gate_options* options) {
  if (given->limit != NULL && count_from(given->limit, "limit", &options->limit) < 0) return -1;
  if (given->max_waiting != NULL &&
      count_from(given->max_waiting, "max_waiting", &options->max_waiting) < 0)
    return -1;
  if (given->local_limit != NULL &&
      count_from(given->local_limit, "local_limit", &options->local_limit) < 0)
    return -1;
  if (positive_seconds(given->ttl, "ttl", 0, &options->ttl) < 0) return -1;
  if (positive_seconds(given->max_hold, "max_hold", 0, &options->max_hold) < 0) return -1;
  if (positive_seconds(given->patience, "patience", 0, &options->patience) < 0) return -1;
  if (positive_seconds(given->claim_window, "claim_window", 0, &options->claim_window) < 0)
    return -1;
  if (given->order != NULL && choice_from(given->order, "order", kOrders, &options->order) < 0)
    return -1;
  if (given->outage != NULL && choice_from(given->outage, "outage", kOutages, &options->outage) < 0)
    return -1;
  options->exclusive = (uint32_t)given->exclusive;
  options->barging = (uint32_t)given->barging;
  options->refuse_late = (uint32_t)given->refuse_late;
  return aging_from(given->aging, options);
}

static int open_gate(GateObject* gate, const Arguments* given, airlock_gate_options* options) {
  StoreObject* store = store_argument(gate->state, given->store);
  Text name;
  if (store == NULL || text_from(given->name, "name", &name) < 0) return -1;
  airlock_error error;
  init_error(&error);
  airlock_gate* opened = NULL;
  const int32_t status = airlock_gate_open(store->store, name.text, options, &opened, &error);
  drop_text(&name);
  if (status != AIRLOCK_DONE) {
    raise_failure(gate->state, status, &error);
    return -1;
  }
  gate->gate = opened;
  gate->limit = options->limit;
  gate->local = store->local;
  Py_INCREF(given->store);
  gate->store = given->store;
  Py_INCREF(given->name);
  gate->name = given->name;
  return 0;
}

static int gate_init(GateObject* gate, PyObject* args, PyObject* keywords) {
  Arguments given;
  airlock_rate* rates = NULL;
  airlock_gate_options options = {.size = sizeof options};
  int64_t max_wait = 0;
  if (parse_gate(args, keywords, &given) < 0 || options_from(&given, &options) < 0) return -1;
  if (given.max_wait != NULL &&
      seconds_from(given.max_wait, "max_wait", AIRLOCK_FOREVER, &max_wait) < 0)
    return -1;
  if (given.rates != NULL && rates_from(given.rates, &rates, &options.rate_count) < 0) return -1;
  options.rates = rates;
  int result = -1;
  if (gate->gate == NULL) { /* Only now: the conversions may have run Python code. */
    gate->max_wait = max_wait;
    result = open_gate(gate, &given, &options);
  } else {
    PyErr_SetString(PyExc_ValueError, "this object was initialised before");
  }
  PyMem_Free(rates);
  return result;
}

/* --- Entering ------------------------------------------------------------------------------------------------- */

static PyObject* enter(GateObject* gate, const airlock_ask* ask, int64_t max_wait,
                       int none_if_refused) {
  if (!is_open_gate(gate)) return NULL;
  airlock_error error;
  airlock_answer answer;
  airlock_lease* lease = NULL;
  int32_t status;
  init_error(&error);
  init_short_answer(&answer);
  if (max_wait <= 0 && gate->local) {
    status = airlock_enter(gate->gate, ask, max_wait, &lease, &answer, &error);
  } else if (max_wait > 0 && PyThread_get_thread_ident() == gate->state->main_thread) {
    status = enter_with_signals(gate->state, gate->gate, ask, max_wait, &lease, &answer, &error);
  } else {
    Py_BEGIN_ALLOW_THREADS;
    status = airlock_enter(gate->gate, ask, max_wait, &lease, &answer, &error);
    Py_END_ALLOW_THREADS;
  }
  if (status == AIRLOCK_DONE) return new_lease(gate->state, lease, gate->local);
  if (status != AIRLOCK_REFUSED) return raise_failure(gate->state, status, &error);
  if (none_if_refused) Py_RETURN_NONE;
  return raise_refused(gate->state, gate->name, gate->limit, &answer);
}

static PyObject* gate_enter(GateObject* gate, PyObject* Py_UNUSED(ignored)) {
  PyObject* lease = enter(gate, NULL, gate->max_wait, 0);
  if (lease != NULL && blocks_push(&gate->blocks, (PyObject*)PyEval_GetFrame(), lease) < 0)
    Py_CLEAR(lease);
  return lease;
}

static PyObject* pop_block(GateObject* gate, PyObject* frame) {
  PyObject* lease = blocks_pop(&gate->blocks, frame);
  if (lease == NULL)
    PyErr_SetString(PyExc_RuntimeError, "no `with` block of this object is open here");
  return lease;
}

static PyObject* gate_exit(GateObject* gate, PyObject* Py_UNUSED(exception)) {
  LeaseObject* lease = (LeaseObject*)pop_block(gate, (PyObject*)PyEval_GetFrame());
  if (lease == NULL) return NULL;
  airlock_lease* handle = lease->lease;
  lease->lease = NULL;
  airlock_lease_free(handle);
  Py_DECREF(lease);
  Py_RETURN_FALSE;
}

/* For `async with`, whose frame Python code knows. */
static PyObject* gate_open_block(GateObject* gate, PyObject* args) {
  PyObject *frame, *lease;
  if (!PyArg_ParseTuple(args, "OO:_open_block", &frame, &lease)) return NULL;
  if (!PyObject_TypeCheck(lease, gate->state->lease_type)) {
    PyErr_SetString(PyExc_TypeError, "_open_block takes a frame and a Lease");
    return NULL;
  }
  if (blocks_push(&gate->blocks, frame, lease) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* gate_close_block(GateObject* gate, PyObject* frame) {
  return pop_block(gate, frame);
}

static int max_wait_from(GateObject* gate, int blocking, PyObject* timeout, int64_t* max_wait) {
  *max_wait = blocking ? gate->max_wait : 0;
  if (timeout == NULL || timeout == Py_Ellipsis) return 0;
  if (!blocking) {
    PyErr_SetString(PyExc_ValueError, "a timeout makes no sense without blocking");
    return -1;
  }
  return seconds_from(timeout, "timeout", AIRLOCK_FOREVER, max_wait);
}

static PyObject* gate_acquire(GateObject* gate, PyObject* args, PyObject* keywords) {
  static char* names[] = {"blocking", "timeout", "weight", "priority", "cost", "label", NULL};
  PyObject *timeout = NULL, *weight = NULL, *priority = NULL, *cost = NULL, *label = NULL;
  int blocking = 1;
  int64_t max_wait;
  Ask ask;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|pO$OOOO:acquire", names, &blocking, &timeout,
                                   &weight, &priority, &cost, &label)) {
    return NULL;
  }
  if (max_wait_from(gate, blocking, timeout, &max_wait) < 0 ||
      ask_from(weight, priority, cost, label, &ask) < 0)
    return NULL;
  PyObject* lease = enter(gate, &ask.ask, max_wait, 0);
  drop_ask(&ask);
  return lease;
}

static PyObject* gate_try_acquire(GateObject* gate, PyObject* args, PyObject* keywords) {
  static char* names[] = {"weight", "priority", "cost", "label", NULL};
  PyObject *weight = NULL, *priority = NULL, *cost = NULL, *label = NULL;
  Ask ask;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:try_acquire", names, &weight, &priority,
                                   &cost, &label))
    return NULL;
  if (ask_from(weight, priority, cost, label, &ask) < 0) return NULL;
  PyObject* lease = enter(gate, &ask.ask, 0, 1);
  drop_ask(&ask);
  return lease;
}

static PyObject* gate_max_wait(GateObject* gate, void* Py_UNUSED(closure)) {
  if (gate->max_wait == AIRLOCK_FOREVER) Py_RETURN_NONE;
  return seconds_object(gate->max_wait);
}

static PyObject* object_or_none(PyObject* object) {
  if (object == NULL) Py_RETURN_NONE;
  Py_INCREF(object);
  return object;
}

static PyObject* gate_name(GateObject* gate, void* Py_UNUSED(closure)) {
  return object_or_none(gate->name);
}
static PyObject* gate_store(GateObject* gate, void* Py_UNUSED(closure)) {
  return object_or_none(gate->store);
}
static PyObject* gate_limit(GateObject* gate, void* Py_UNUSED(closure)) {
  return PyLong_FromUnsignedLong(gate->limit);
}

static PyObject* gate_repr(GateObject* gate) {
  if (gate->name == NULL) return PyUnicode_FromString("<airlock gate, not initialised>");
  PyObject* type = PyObject_GetAttrString((PyObject*)Py_TYPE(gate), "__name__");
  if (type == NULL) return NULL;
  PyObject* text =
      PyUnicode_FromFormat("<airlock.%U %R, limit %u>", type, gate->name, (unsigned)gate->limit);
  Py_DECREF(type);
  return text;
}

static PyObject* gate_reduce(PyObject* gate, PyObject* Py_UNUSED(ignored)) {
  PyErr_Format(PyExc_TypeError,
               "%R cannot be pickled: open the store and make the object in the other process",
               gate);
  return NULL;
}

static PyMethodDef gate_methods[] = {
    {"acquire", (PyCFunction)(void (*)(void))gate_acquire, METH_VARARGS | METH_KEYWORDS,
     "acquire($self, blocking=True, timeout=..., *, weight=1, priority=0, cost=1, "
     "label=None)\n--\n\n"
     "A Lease. Waits for `timeout` seconds, without bound for None, and for max_wait where it is "
     "not given.\n"
     "Refused where it is not admitted by then."},
    {"try_acquire", (PyCFunction)(void (*)(void))gate_try_acquire, METH_VARARGS | METH_KEYWORDS,
     "try_acquire($self, *, weight=1, priority=0, cost=1, label=None)\n--\n\nA Lease, or None "
     "where it is "
     "refused. Never waits."},
    {"_admit", (PyCFunction)(void (*)(void))gate_admit, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_claim", (PyCFunction)gate_claim, METH_O, NULL},
    {"_leave", (PyCFunction)gate_leave, METH_O, NULL},
    {"_mark_absent", (PyCFunction)gate_mark_absent, METH_O, NULL},
    {"_open_block", (PyCFunction)gate_open_block, METH_VARARGS, NULL},
    {"_close_block", (PyCFunction)gate_close_block, METH_O, NULL},
    {"__enter__", (PyCFunction)gate_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)gate_exit, METH_VARARGS, NULL},
    {"__reduce__", gate_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef gate_members[] = {
    {"name", (getter)gate_name, NULL, "The name of its gate.", NULL},
    {"store", (getter)gate_store, NULL, "Its store.", NULL},
    {"limit", (getter)gate_limit, NULL,
     "How much may be inside, all processes together; 0: the rates decide.", NULL},
    {"max_wait", (getter)gate_max_wait, NULL, "Seconds for which it waits; None: without bound.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot gate_slots[] = {
    {Py_tp_doc, "A named gate of a store, with a waiting line."},
    {Py_tp_new, gate_new},
    {Py_tp_init, gate_init},
    {Py_tp_dealloc, gate_dealloc},
    {Py_tp_traverse, gate_traverse},
    {Py_tp_clear, gate_clear},
    {Py_tp_methods, gate_methods},
    {Py_tp_getset, gate_members},
    {Py_tp_repr, gate_repr},
    {0, NULL},
};

PyType_Spec gate_spec = {"airlock._airlock.Gate", sizeof(GateObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, gate_slots};

/* Mailbox: waiting without a thread, for event loops. */
#include "binding.h"

typedef struct {
  PyObject_HEAD State* state;
  airlock_mailbox* mailbox;
  PyObject* gates; /* dict: tag -> the Gate that is waited for */
} MailboxObject;

static PyObject* mailbox_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {NULL};
  State* state = state_of(type);
  if (state == NULL || !PyArg_ParseTupleAndKeywords(args, keywords, ":Mailbox", names)) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_mailbox* opened = NULL;
  const int32_t status = airlock_mailbox_open(&opened, &error);
  if (status != AIRLOCK_DONE) return raise_failure(state, status, &error);
  PyObject* gates = PyDict_New();
  const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  MailboxObject* mailbox = gates == NULL ? NULL : (MailboxObject*)allocate(type, 0);
  if (mailbox == NULL) {
    Py_XDECREF(gates);
    airlock_mailbox_free(opened);
    return NULL;
  }
  mailbox->state = state;
  mailbox->mailbox = opened;
  mailbox->gates = gates;
  return (PyObject*)mailbox;
}

static int mailbox_traverse(MailboxObject* mailbox, visitproc visit, void* arg) {
  Py_VISIT(mailbox->gates);
  Py_VISIT(Py_TYPE(mailbox));
  return 0;
}

static int mailbox_clear(MailboxObject* mailbox) {
  Py_CLEAR(mailbox->gates);
  return 0;
}

static void mailbox_dealloc(MailboxObject* mailbox) {
  PyTypeObject* type = Py_TYPE(mailbox);
  const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(mailbox);
  mailbox_clear(mailbox);
  airlock_mailbox_free(mailbox->mailbox);
  release(mailbox);
  Py_DECREF(type);
}

static PyObject* mailbox_fileno(MailboxObject* mailbox, PyObject* Py_UNUSED(ignored)) {
  return PyLong_FromLong(airlock_mailbox_fd(mailbox->mailbox));
}

static int start(MailboxObject* mailbox, GateObject* gate, PyObject* tag, int64_t max_wait,
                 const airlock_ask* ask) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(tag);
  if (number == (unsigned long long)-1 && PyErr_Occurred()) return -1;
  if (PyDict_SetItem(mailbox->gates, tag, (PyObject*)gate) < 0) return -1;
  airlock_error error;
  init_error(&error);
  const int32_t status =
      airlock_enter_async(gate->gate, ask, max_wait, mailbox->mailbox, number, &error);
  if (status == AIRLOCK_DONE) return 0;
  (void)PyDict_DelItem(mailbox->gates, tag);
  raise_failure(mailbox->state, status, &error);
  return -1;
}

static PyObject* mailbox_enter(MailboxObject* mailbox, PyObject* args, PyObject* keywords) {
  static char* names[] = {"gate", "tag", "timeout", "weight", "priority", "cost", "label", NULL};
  PyObject *gate, *tag, *timeout = NULL, *weight = NULL, *priority = NULL, *cost = NULL,
                        *label = NULL;
  Ask ask;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|O$OOOO:enter", names,
                                   mailbox->state->gate_type, &gate, &PyLong_Type, &tag, &timeout,
                                   &weight, &priority, &cost, &label)) {
    return NULL;
  }
  if (!is_open_gate((GateObject*)gate)) return NULL;
  int64_t max_wait = ((GateObject*)gate)->max_wait;
  if (timeout != NULL && timeout != Py_Ellipsis &&
      seconds_from(timeout, "timeout", AIRLOCK_FOREVER, &max_wait) < 0)
    return NULL;
  if (ask_from(weight, priority, cost, label, &ask) < 0) return NULL;
  const int started = start(mailbox, (GateObject*)gate, tag, max_wait, &ask.ask);
  drop_ask(&ask);
  if (started < 0) return NULL;
  Py_RETURN_NONE;
}

/* The exception that is raised now, as an object. */
static PyObject* raised(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
}

/* Takes over `gate`, which may be NULL for the loss of a lease. */
static PyObject* payload(State* state, airlock_event* event, const airlock_answer* answer,
                         const airlock_error* error, GateObject* gate) {
  switch (event->kind) {
    case AIRLOCK_EVENT_GRANTED:
      return new_lease(state, event->lease, gate == NULL ? 0 : gate->local);
    case AIRLOCK_EVENT_REFUSED: {
      PyObject* name = gate == NULL ? PyUnicode_FromString("") : gate->name;
      if (name == NULL) return NULL;
      if (gate != NULL) Py_INCREF(name);
      raise_refused(state, name, gate == NULL ? 0 : gate->limit, answer);
      Py_DECREF(name);
      return raised();
    }
    case AIRLOCK_EVENT_FAILED:
      raise_failure(state, error->status < 0 ? error->status : AIRLOCK_FAILED, error);
      return raised();
    default:
      Py_RETURN_NONE;
  }
}

static PyObject* mailbox_next(MailboxObject* mailbox, PyObject* Py_UNUSED(ignored)) {
  airlock_error error;
  airlock_answer answer;
  airlock_event event = {.size = sizeof event};
  init_error(&error);
  init_short_answer(&answer);
  const int32_t status = airlock_mailbox_next(mailbox->mailbox, &event, &answer, &error);
  if (status == AIRLOCK_NOTHING) Py_RETURN_NONE;
  if (status != AIRLOCK_DONE) return raise_failure(mailbox->state, status, &error);
  PyObject* tag = PyLong_FromUnsignedLongLong(event.tag);
  if (tag == NULL) {
    airlock_lease_free(event.lease);
    return NULL;
  }
  PyObject* gate = NULL;
  if (event.kind != AIRLOCK_EVENT_LOST) {
    gate = PyDict_GetItemWithError(mailbox->gates, tag);
    Py_XINCREF(gate);
    if (gate != NULL) (void)PyDict_DelItem(mailbox->gates, tag);
  }
  PyObject* content = payload(mailbox->state, &event, &answer, &error, (GateObject*)gate);
  Py_XDECREF(gate);
  if (content == NULL) {
    Py_DECREF(tag);
    return NULL;
  }
  return Py_BuildValue("(NiN)", tag, (int)event.kind, content);
}

static PyObject* mailbox_cancel(MailboxObject* mailbox, PyObject* tag) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(tag);
  if (number == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
  airlock_error error;
  init_error(&error);
  const int32_t status = airlock_mailbox_cancel(mailbox->mailbox, number, &error);
  if (status < 0) return raise_failure(mailbox->state, status, &error);
  return PyBool_FromLong(status == AIRLOCK_DONE);
}

static PyObject* mailbox_watch(MailboxObject* mailbox, PyObject* args) {
  LeaseObject* lease;
  unsigned long long tag;
  if (!PyArg_ParseTuple(args, "O!K:watch", mailbox->state->lease_type, &lease, &tag)) return NULL;
  if (lease->lease == NULL) return raise_expired(mailbox->state);
  airlock_error error;
  init_error(&error);
  const int32_t status = airlock_lease_watch(lease->lease, mailbox->mailbox, tag, &error);
  if (status == AIRLOCK_GONE) return raise_expired(mailbox->state);
  if (status < 0) return raise_failure(mailbox->state, status, &error);
  Py_RETURN_NONE;
}

static PyMethodDef mailbox_methods[] = {
    {"fileno", (PyCFunction)mailbox_fileno, METH_NOARGS,
     "fileno($self)\n--\n\nReadable while there is an event."},
    {"enter", (PyCFunction)(void (*)(void))mailbox_enter, METH_VARARGS | METH_KEYWORDS,
     "enter($self, gate, tag, timeout=..., *, weight=1, priority=0, cost=1, label=None)\n--\n\n"
     "Take a place without blocking; exactly one event with this tag will come."},
    {"next", (PyCFunction)mailbox_next, METH_NOARGS,
     "next($self)\n--\n\n(tag, kind, content), or None. Kinds: 1 granted (a Lease), 2 refused and "
     "3 "
     "failed (an exception), "
     "4 cancelled, 5 lost."},
    {"cancel", (PyCFunction)mailbox_cancel, METH_O,
     "cancel($self, tag, /)\n--\n\nLeave the line. The event comes all the same."},
    {"watch", (PyCFunction)mailbox_watch, METH_VARARGS,
     "watch($self, lease, tag, /)\n--\n\nAn event of kind 5 when the lease is lost."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot mailbox_slots[] = {
    {Py_tp_doc,
     "Mailbox()\n--\n\nEvents of waits, behind one descriptor. asyncio is built on it; other loops "
     "may be, too."},
    {Py_tp_new, mailbox_new},
    {Py_tp_dealloc, mailbox_dealloc},
    {Py_tp_traverse, mailbox_traverse},
    {Py_tp_clear, mailbox_clear},
    {Py_tp_methods, mailbox_methods},
    {0, NULL},
};

PyType_Spec mailbox_spec = {"airlock._airlock.Mailbox", sizeof(MailboxObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, mailbox_slots};

/* Seal: one question, no line, nothing renewed by itself. What RateLimiter, Cooldown and Composite are made of. */
#include "binding.h"

typedef struct {
  PyObject_HEAD State* state;
  PyObject* name;
  airlock_seal* seal;
  int local;
} SealObject;

static PyObject* new_seal(State* state, PyObject* name, airlock_seal* handle, int local) {
  SealObject* seal = PyObject_New(SealObject, state->seal_type);
  if (seal == NULL) {
    airlock_seal_free(handle);
    return NULL;
  }
  Py_INCREF(name);
  seal->state = state;
  seal->name = name;
  seal->seal = handle;
  seal->local = local;
  return (PyObject*)seal;
}

static void seal_dealloc(SealObject* seal) {
  PyTypeObject* type = Py_TYPE(seal);
  Py_CLEAR(seal->name);
  airlock_seal_free(seal->seal);
  PyObject_Free(seal);
  Py_DECREF(type);
}

PyObject* rate_state(const airlock_answer* answer) {
  return Py_BuildValue("(IINNIN)", answer->rate.limit, answer->rate.remaining,
                       seconds_object(answer->rate.retry_after),
                       seconds_object(answer->rate.reset_after), answer->taken,
                       seconds_object(answer->delay));
}

static PyObject* refusal(SealObject* seal, int32_t status, const airlock_answer* answer,
                         const airlock_error* error, int raises) {
  if (status != AIRLOCK_REFUSED) return raise_failure(seal->state, status, error);
  if (raises) return raise_refused(seal->state, seal->name, 0, answer);
  Py_RETURN_NONE;
}

/* ask(cost, label, raises): (token, rate state), None where it is refused and `raises` is false. */
static PyObject* seal_ask(SealObject* seal, PyObject* args) {
  PyObject *cost, *label;
  int raises;
  Ask ask;
  if (!PyArg_ParseTuple(args, "OOp:ask", &cost, &label, &raises) ||
      ask_from(NULL, NULL, cost, label, &ask) < 0)
    return NULL;
  airlock_seal_ask question = {
      .size = sizeof question, .cost = ask.ask.cost, .label = ask.ask.label};
  airlock_error error;
  init_error(&error);
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  int32_t status;
  CALL_STORE(status, seal->local, airlock_seal_try(seal->seal, &question, &answer, &error));
  drop_ask(&ask);
  if (status != AIRLOCK_DONE) return refusal(seal, status, &answer, &error, raises);
  return Py_BuildValue("(sN)", answer.token, rate_state(&answer));
}

/* take(mode, cost, max_delay, raises): rate state, or None. */
static PyObject* seal_take(SealObject* seal, PyObject* args) {
  PyObject *cost, *max_delay;
  int mode, raises;
  int64_t delay;
  Ask ask;
  if (!PyArg_ParseTuple(args, "iOOp:take", &mode, &cost, &max_delay, &raises)) return NULL;
  if (seconds_from(max_delay, "max_delay", AIRLOCK_FOREVER, &delay) < 0 ||
      ask_from(NULL, NULL, cost, NULL, &ask) < 0)
    return NULL;
  airlock_error error;
  init_error(&error);
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  int32_t status;
  CALL_STORE(status, seal->local,
             airlock_seal_take(seal->seal, mode, ask.ask.cost, delay, &answer, &error));
  if (status != AIRLOCK_DONE) return refusal(seal, status, &answer, &error, raises);
  return rate_state(&answer);
}

static PyObject* seal_is_atomic(SealObject* seal, void* Py_UNUSED(closure)) {
  return PyBool_FromLong(airlock_seal_is_atomic(seal->seal));
}

/* --- Making them ----------------------------------------------------------------------------------------------- */

/* The end of every function that makes one: takes over `name`. */
static PyObject* made(StoreObject* store, PyObject* name, int32_t status, airlock_seal* seal,
                      const airlock_error* error) {
  if (status != AIRLOCK_DONE) return raise_failure(store->state, status, error);
  return new_seal(store->state, name, seal, store->local);
}

static PyObject* lock_seal(PyObject* module, PyObject* args) {
  PyObject *owner, *name, *seconds;
  int64_t ttl;
  Text text;
  State* state = state_of_module(module);
  if (!PyArg_ParseTuple(args, "OOO:lock_seal", &owner, &name, &seconds)) return NULL;
  StoreObject* store = store_argument(state, owner);
  if (store == NULL || seconds_from(seconds, "ttl", 0, &ttl) < 0 ||
      text_from(name, "name", &text) < 0)
    return NULL;
  airlock_error error;
  init_error(&error);
  airlock_seal* seal = NULL;
  const int32_t status = airlock_seal_lock(store->store, text.text, ttl, &seal, &error);
  drop_text(&text);
  return made(store, name, status, seal, &error);
}

static PyObject* semaphore_seal(PyObject* module, PyObject* args) {
  PyObject *owner, *name, *seconds, *count, *heavy;
  int64_t ttl;
  uint32_t limit, weight;
  Text text;
  State* state = state_of_module(module);
  if (!PyArg_ParseTuple(args, "OOOOO:semaphore_seal", &owner, &name, &count, &heavy, &seconds))
    return NULL;
  StoreObject* store = store_argument(state, owner);
  if (store == NULL || count_from(count, "limit", &limit) < 0 ||
      count_from(heavy, "weight", &weight) < 0)
    return NULL;
  if (seconds_from(seconds, "ttl", 0, &ttl) < 0 || text_from(name, "name", &text) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_seal* seal = NULL;
  const int32_t status =
      airlock_seal_semaphore(store->store, text.text, limit, weight, ttl, &seal, &error);
  drop_text(&text);
  return made(store, name, status, seal, &error);
}

static PyObject* cooldown_seal(PyObject* module, PyObject* args) {
  PyObject *owner, *name, *seconds;
  int64_t period;
  Text text;
  State* state = state_of_module(module);
  if (!PyArg_ParseTuple(args, "OOO:cooldown_seal", &owner, &name, &seconds)) return NULL;
  StoreObject* store = store_argument(state, owner);
  if (store == NULL || seconds_from(seconds, "period", AIRLOCK_FOREVER, &period) < 0) return NULL;
  if (text_from(name, "name", &text) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_seal* seal = NULL;
  const int32_t status = airlock_seal_cooldown(store->store, text.text, period, &seal, &error);
  drop_text(&text);
  return made(store, name, status, seal, &error);
}

static PyObject* rates_seal(PyObject* module, PyObject* args) {
  PyObject *owner, *name, *list, *seconds;
  int64_t dedupe;
  airlock_rate* rates;
  size_t count;
  Text text;
  State* state = state_of_module(module);
  if (!PyArg_ParseTuple(args, "OOOO:rates_seal", &owner, &name, &list, &seconds)) return NULL;
  StoreObject* store = store_argument(state, owner);
  if (store == NULL || seconds_from(seconds, "dedupe", 0, &dedupe) < 0 ||
      rates_from(list, &rates, &count) < 0)
    return NULL;
  PyObject* result = NULL;
  if (text_from(name, "name", &text) == 0) {
    airlock_error error;
    init_error(&error);
    airlock_seal* seal = NULL;
    const int32_t status =
        airlock_seal_rates(store->store, text.text, rates, count, dedupe, &seal, &error);
    drop_text(&text);
    result = made(store, name, status, seal, &error);
  }
  PyMem_Free(rates);
  return result;
}

static PyObject* composite_seal(PyObject* module, PyObject* args) {
  State* state = state_of_module(module);
  SealObject *lock, *other;
  if (!PyArg_ParseTuple(args, "O!O!:composite_seal", state->seal_type, &lock, state->seal_type,
                        &other))
    return NULL;
  airlock_error error;
  init_error(&error);
  airlock_seal* seal = NULL;
  const int32_t status = airlock_seal_composite(lock->seal, other->seal, &seal, &error);
  if (status != AIRLOCK_DONE) return raise_failure(state, status, &error);
  PyObject* name = PyUnicode_FromFormat("%U and %U", lock->name, other->name);
  if (name == NULL) {
    airlock_seal_free(seal);
    return NULL;
  }
  PyObject* result = new_seal(state, name, seal, lock->local && other->local);
  Py_DECREF(name);
  return result;
}

PyMethodDef seal_functions[] = {
    {"lock_seal", lock_seal, METH_VARARGS, NULL},
    {"semaphore_seal", semaphore_seal, METH_VARARGS, NULL},
    {"cooldown_seal", cooldown_seal, METH_VARARGS, NULL},
    {"rates_seal", rates_seal, METH_VARARGS, NULL},
    {"composite_seal", composite_seal, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef seal_methods[] = {
    {"ask", (PyCFunction)seal_ask, METH_VARARGS, NULL},
    {"take", (PyCFunction)seal_take, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef seal_members[] = {
    {"is_atomic", (getter)seal_is_atomic, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot seal_slots[] = {
    {Py_tp_new, refuse_to_make},
    {Py_tp_dealloc, seal_dealloc},
    {Py_tp_methods, seal_methods},
    {Py_tp_getset, seal_members},
    {0, NULL},
};

PyType_Spec seal_spec = {"airlock._airlock.Seal", sizeof(SealObject), 0, Py_TPFLAGS_DEFAULT,
                         seal_slots};

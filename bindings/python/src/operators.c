/* What operators see and change. */
#include "binding.h"

typedef int32_t (*List)(const airlock_store* store, airlock_list** list, airlock_error* error);

static PyObject* list_of(StoreObject* store, List function) {
  airlock_error error;
  init_error(&error);
  airlock_list* list = NULL;
  int32_t status;
  CALL_STORE(status, store->local, function(store->store, &list, &error));
  if (status < 0) return raise_failure(store->state, status, &error);
  const size_t size = airlock_list_size(list);
  PyObject* result = PyList_New(0);
  for (size_t at = 0; result != NULL && at < size; ++at) {
    PyObject* item = text_object(airlock_list_at(list, at));
    if (item == NULL || PyList_Append(result, item) < 0) Py_CLEAR(result);
    Py_XDECREF(item);
  }
  airlock_list_free(list);
  return result;
}

PyObject* store_gates(StoreObject* store, PyObject* Py_UNUSED(ignored)) {
  return list_of(store, airlock_gates);
}
PyObject* store_doctor(StoreObject* store, PyObject* Py_UNUSED(ignored)) {
  return list_of(store, airlock_doctor);
}

PyObject* store_metrics(StoreObject* store, PyObject* Py_UNUSED(ignored)) {
  PyObject* list = list_of(store, airlock_metrics);
  if (list == NULL) return NULL;
  PyObject* text = PyList_Size(list) == 1 ? PyList_GetItem(list, 0) : NULL;
  if (text == NULL) PyErr_SetString(store->state->error, "metrics: not one text");
  Py_XINCREF(text);
  Py_DECREF(list);
  return text;
}

PyObject* store_count(StoreObject* store, PyObject* gate) {
  Text name;
  if (text_from(gate, "gate", &name) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_counts counts = {.size = sizeof counts};
  int32_t status;
  CALL_STORE(status, store->local, airlock_count(store->store, name.text, &counts, &error));
  drop_text(&name);
  if (status < 0) return raise_failure(store->state, status, &error);
  return Py_BuildValue("{sIsIsIsIsNsN}", "in_use", counts.in_use, "limit", counts.limit, "holders",
                       counts.holders, "waiting", counts.waiting, "overridden",
                       PyBool_FromLong(counts.overridden), "exclusive",
                       PyBool_FromLong(counts.exclusive));
}

/* --- look ----------------------------------------------------------------------------------------------------- */

typedef PyObject* (*Row)(const airlock_view* view, size_t at);

static PyObject* holder_row(const airlock_view* view, size_t at) {
  airlock_holder holder = {.size = sizeof holder};
  if (airlock_view_holder(view, at, &holder, NULL) != AIRLOCK_DONE) return NULL;
  PyObject* slot = holder.slot < 0 ? Py_BuildValue("") : PyLong_FromLongLong(holder.slot);
  return Py_BuildValue(
      "{sNsIsKsNsNsNsNsNsN}", "label", text_object(holder.label), "weight", holder.weight, "fence",
      (unsigned long long)holder.fence, "slot", slot, "age", seconds_object(holder.age),
      "remaining", seconds_object(holder.remaining), "claimed", PyBool_FromLong(holder.claimed),
      "revoked", PyBool_FromLong(holder.revoked), "detached", PyBool_FromLong(holder.detached));
}

static PyObject* waiter_row(const airlock_view* view, size_t at) {
  airlock_waiter waiter = {.size = sizeof waiter};
  if (airlock_view_waiter(view, at, &waiter, NULL) != AIRLOCK_DONE) return NULL;
  return Py_BuildValue("{sNsIsNsIsNsN}", "label", text_object(waiter.label), "weight",
                       waiter.weight, "waited", seconds_object(waiter.waited), "priority",
                       waiter.priority, "present", PyBool_FromLong(waiter.present), "detached",
                       PyBool_FromLong(waiter.detached));
}

static PyObject* rate_row(const airlock_view* view, size_t at) {
  airlock_rate rate;
  airlock_rate_info info;
  if (airlock_view_rate(view, at, &rate, &info, NULL) != AIRLOCK_DONE) return NULL;
  return Py_BuildValue("{sIsNsIsNsN}", "count", rate.count, "period", seconds_object(rate.period),
                       "remaining", info.remaining, "retry_after", seconds_object(info.retry_after),
                       "reset_after", seconds_object(info.reset_after));
}

static PyObject* pause_row(const airlock_view* view, size_t at) {
  airlock_text reporter;
  int64_t remaining;
  if (airlock_view_pause(view, at, &reporter, &remaining, NULL) != AIRLOCK_DONE) return NULL;
  return Py_BuildValue("{sNsN}", "reporter", text_object(reporter), "remaining",
                       seconds_object(remaining));
}

static PyObject* rows(const airlock_view* view, size_t count, Row row) {
  PyObject* result = PyList_New(0);
  for (size_t at = 0; result != NULL && at < count; ++at) {
    PyObject* item = row(view, at);
    if (item == NULL && !PyErr_Occurred()) break; /* The view has fewer. */
    if (item == NULL || PyList_Append(result, item) < 0) Py_CLEAR(result);
    Py_XDECREF(item);
  }
  return result;
}

static PyObject* refused_by_reason(const airlock_summary* summary) {
  PyObject* result = PyDict_New();
  const size_t reasons = sizeof summary->refused / sizeof *summary->refused;
  for (size_t at = 0; result != NULL && at < reasons; ++at) {
    PyObject* count = PyLong_FromUnsignedLongLong(summary->refused[at]);
    if (count == NULL || PyDict_SetItemString(result, airlock_reason_text((int32_t)at), count) < 0)
      Py_CLEAR(result);
    Py_XDECREF(count);
  }
  return result;
}

static PyObject* view_dict(const airlock_view* view, const airlock_summary* summary) {
  PyObject* override_limit = summary->override_limit < 0
                                 ? Py_BuildValue("")
                                 : PyLong_FromLongLong(summary->override_limit);
  return Py_BuildValue(
      "{sIsIsNsNsNsKsNsNsNsNsKsNsKsKsKsKsK}", "in_use", summary->in_use, "limit", summary->limit,
      "override_limit", override_limit, "limits_disagree",
      PyBool_FromLong(summary->limits_disagree), "exclusive", PyBool_FromLong(summary->exclusive),
      "last_fence", (unsigned long long)summary->last_fence, "holders",
      rows(view, summary->holders, holder_row), "line", rows(view, summary->waiters, waiter_row),
      "rates", rows(view, summary->rates, rate_row), "pauses",
      rows(view, summary->pauses, pause_row), "granted", (unsigned long long)summary->granted,
      "refused", refused_by_reason(summary), "expired", (unsigned long long)summary->expired,
      "revoked", (unsigned long long)summary->revoked, "died", (unsigned long long)summary->died,
      "missed", (unsigned long long)summary->missed, "abandoned",
      (unsigned long long)summary->abandoned);
}

PyObject* store_look(StoreObject* store, PyObject* gate) {
  Text name;
  if (text_from(gate, "gate", &name) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_view* view = NULL;
  int32_t status;
  CALL_STORE(status, store->local, airlock_look(store->store, name.text, &view, &error));
  drop_text(&name);
  if (status == AIRLOCK_NOTHING) Py_RETURN_NONE;
  airlock_summary summary = {.size = sizeof summary};
  if (status == AIRLOCK_DONE) status = airlock_view_summary(view, &summary, &error);
  PyObject* result = status == AIRLOCK_DONE ? view_dict(view, &summary)
                                            : raise_failure(store->state, status, &error);
  airlock_view_free(view);
  return result;
}

/* --- Changes --------------------------------------------------------------------------------------------------- */

static PyObject* done_or_nothing(State* state, int32_t status, const airlock_error* error) {
  if (status < 0) return raise_failure(state, status, error);
  return PyBool_FromLong(status == AIRLOCK_DONE);
}

PyObject* store_set_limit(StoreObject* store, PyObject* args) {
  PyObject *gate, *limit;
  uint32_t count = 0;
  Text name;
  if (!PyArg_ParseTuple(args, "OO:set_limit", &gate, &limit)) return NULL;
  if (limit != Py_None && count_from(limit, "limit", &count) < 0) return NULL;
  if (text_from(gate, "gate", &name) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  if (limit == Py_None) {
    CALL_STORE(status, store->local, airlock_limit_clear(store->store, name.text, &error));
  } else {
    CALL_STORE(status, store->local, airlock_limit_set(store->store, name.text, count, &error));
  }
  drop_text(&name);
  if (status < 0) return raise_failure(store->state, status, &error);
  Py_RETURN_NONE;
}

PyObject* store_pause(StoreObject* store, PyObject* args, PyObject* keywords) {
  static char* names[] = {"gate", "duration", "reporter", NULL};
  PyObject *gate, *seconds, *reporter = NULL;
  int64_t duration;
  Text name, who = {NULL, {NULL, 0}};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:pause", names, &gate, &seconds, &reporter))
    return NULL;
  if (seconds_from(seconds, "duration", AIRLOCK_FOREVER, &duration) < 0 ||
      text_from(gate, "gate", &name) < 0)
    return NULL;
  PyObject* result = NULL;
  if (reporter == NULL || text_from(reporter, "reporter", &who) == 0) {
    airlock_error error;
    init_error(&error);
    int32_t status;
    CALL_STORE(status, store->local,
               airlock_pause(store->store, name.text, duration, who.text, &error));
    result = status < 0 ? raise_failure(store->state, status, &error) : Py_BuildValue("");
  }
  drop_text(&name);
  drop_text(&who);
  return result;
}

PyObject* store_resume(StoreObject* store, PyObject* args, PyObject* keywords) {
  static char* names[] = {"gate", "reporter", NULL};
  PyObject *gate, *reporter = NULL;
  Text name, who = {NULL, {NULL, 0}};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:resume", names, &gate, &reporter))
    return NULL;
  if (text_from(gate, "gate", &name) < 0) return NULL;
  PyObject* result = NULL;
  if (reporter == NULL || text_from(reporter, "reporter", &who) == 0) {
    airlock_error error;
    init_error(&error);
    int32_t status;
    CALL_STORE(status, store->local, airlock_resume(store->store, name.text, who.text, &error));
    result = done_or_nothing(store->state, status, &error);
  }
  drop_text(&name);
  drop_text(&who);
  return result;
}

PyObject* store_revoke(StoreObject* store, PyObject* args, PyObject* keywords) {
  static char* names[] = {"gate", "now", NULL};
  PyObject* gate;
  int now = 0;
  Text name;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|p:revoke", names, &gate, &now)) return NULL;
  if (text_from(gate, "gate", &name) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  size_t count = 0;
  int32_t status;
  CALL_STORE(status, store->local,
             airlock_revoke(store->store, name.text, NULL, now, &count, &error));
  drop_text(&name);
  if (status < 0) return raise_failure(store->state, status, &error);
  return PyLong_FromSize_t(count);
}

PyObject* store_purge(StoreObject* store, PyObject* gate) {
  Text name;
  if (text_from(gate, "gate", &name) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  CALL_STORE(status, store->local, airlock_purge(store->store, name.text, &error));
  drop_text(&name);
  return done_or_nothing(store->state, status, &error);
}

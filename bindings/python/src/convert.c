/* Arguments from Python, and results to it. */
#include <math.h>

#include "binding.h"

int text_from(PyObject* object, const char* name, Text* text) {
  memset(text, 0, sizeof *text);
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str", name);
    return -1;
  }
  text->owner = PyUnicode_AsUTF8String(object);
  if (text->owner == NULL) return -1;
  text->text.data = PyBytes_AsString(text->owner);
  text->text.size = (size_t)PyBytes_Size(text->owner);
  return 0;
}

int bytes_from(PyObject* object, const char* name, Text* text) {
  if (PyUnicode_Check(object)) return text_from(object, name, text);
  memset(text, 0, sizeof *text);
  if (!PyBytes_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str or bytes", name);
    return -1;
  }
  Py_INCREF(object);
  text->owner = object;
  text->text.data = PyBytes_AsString(object);
  text->text.size = (size_t)PyBytes_Size(object);
  return 0;
}

void drop_text(Text* text) { Py_CLEAR(text->owner); }

int seconds_from(PyObject* object, const char* name, int64_t none, int64_t* duration) {
  if (object == Py_None) {
    *duration = none;
    return 0;
  }
  if (!PyFloat_Check(object) && !PyLong_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a number of seconds or None", name);
    return -1;
  }
  double seconds = PyFloat_AsDouble(object);
  if (seconds == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear(); /* A huge int. */
    PyObject* zero = PyLong_FromLong(0);
    const int negative = zero == NULL ? -1 : PyObject_RichCompareBool(object, zero, Py_LT);
    Py_XDECREF(zero);
    if (negative < 0) return -1;
    seconds = negative ? -HUGE_VAL : HUGE_VAL;
  }
  if (isnan(seconds) || seconds < 0) {
    PyErr_Format(PyExc_ValueError, "%s must be 0 or more seconds", name);
    return -1;
  }
  const double scaled = ceil(seconds * (double)AIRLOCK_SECOND);
  *duration = scaled >= 9223372036854775807.0 ? AIRLOCK_FOREVER : (int64_t)scaled;
  return 0;
}

int count_from(PyObject* object, const char* name, uint32_t* count) {
  PyObject* index = PyNumber_Index(object);
  if (index == NULL) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s must be an int", name);
    return -1;
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  if (value == -1 && overflow == 0 && PyErr_Occurred()) return -1;
  if (overflow != 0 || value < 0 || value > (long long)UINT32_MAX) {
    PyErr_Format(PyExc_ValueError, "%s must be 0 to 4294967295", name);
    return -1;
  }
  *count = (uint32_t)value;
  return 0;
}

int choice_from(PyObject* object, const char* name, const char* const* choices, int32_t* choice) {
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str", name);
    return -1;
  }
  for (int32_t at = 0; choices[at] != NULL; ++at) {
    if (PyUnicode_CompareWithASCIIString(object, choices[at]) == 0) {
      *choice = at;
      return 0;
    }
  }
  PyErr_Format(PyExc_ValueError, "%s is %R, which is none of its values", name, object);
  return -1;
}

static int rate_from(PyObject* object, airlock_rate* rate) {
  Text text;
  if (text_from(object, "a rate", &text) < 0) return -1;
  airlock_error error;
  init_error(&error);
  const int32_t status = airlock_rate_parse(text.text, rate, &error);
  drop_text(&text);
  if (status == AIRLOCK_DONE) return 0;
  PyErr_SetString(status == AIRLOCK_NO_MEMORY ? PyExc_MemoryError : PyExc_ValueError, error.text);
  return -1;
}

int rates_from(PyObject* object, airlock_rate** rates, size_t* count) {
  *rates = NULL;
  *count = 0;
  if (object == Py_None) return 0;
  PyObject* list = PyUnicode_Check(object) ? PyTuple_Pack(1, object) : PySequence_Tuple(object);
  if (list == NULL) return -1;
  const Py_ssize_t size = PyTuple_Size(list);
  int result = 0;
  if (size > 0) {
    *rates = PyMem_Calloc((size_t)size, sizeof **rates);
    if (*rates == NULL) {
      PyErr_NoMemory();
      result = -1;
    }
  }
  for (Py_ssize_t at = 0; result == 0 && at < size; ++at) {
    result = rate_from(PyTuple_GetItem(list, at), *rates + at);
  }
  Py_DECREF(list);
  if (result < 0) {
    PyMem_Free(*rates);
    *rates = NULL;
    return -1;
  }
  *count = (size_t)size;
  return 0;
}

int visitor_from(State* state, PyObject* object, airlock_visitor* visitor) {
  Text text;
  if (bytes_from(object, "visitor", &text) < 0) return -1;
  airlock_error error;
  init_error(&error);
  const int32_t status = airlock_visitor_named(text.text, visitor, &error);
  drop_text(&text);
  if (status == AIRLOCK_DONE) return 0;
  raise_failure(state, status, &error);
  return -1;
}

PyObject* seconds_object(int64_t duration) {
  return PyFloat_FromDouble(
      duration == AIRLOCK_FOREVER ? HUGE_VAL : (double)duration / (double)AIRLOCK_SECOND);
}

PyObject* text_object(airlock_text text) {
  return PyUnicode_DecodeUTF8(text.data == NULL ? "" : text.data, (Py_ssize_t)text.size, "replace");
}

int ask_from(PyObject* weight, PyObject* priority, PyObject* cost, PyObject* label, Ask* ask) {
  memset(ask, 0, sizeof *ask);
  ask->ask.size = sizeof ask->ask;
  ask->ask.weight = ask->ask.cost = 1;
  if (weight != NULL && count_from(weight, "weight", &ask->ask.weight) < 0) return -1;
  if (cost != NULL && count_from(cost, "cost", &ask->ask.cost) < 0) return -1;
  if (priority != NULL && count_from(priority, "priority", &ask->ask.priority) < 0) return -1;
  if (ask->ask.weight == 0 || ask->ask.cost == 0) { /* The C interface has a default for 0. */
    PyErr_SetString(PyExc_ValueError, "weight and cost must be at least 1");
    return -1;
  }
  if (label == NULL || label == Py_None) return 0;
  if (text_from(label, "label", &ask->label) < 0) return -1;
  ask->ask.label = ask->label.text;
  return 0;
}

void drop_ask(Ask* ask) { drop_text(&ask->label); }

/* The module airlock._airlock. */
#include "binding.h"

static struct PyModuleDef airlock_module;

State* state_of_module(PyObject* module) { return (State*)PyModule_GetState(module); }

State* state_of(PyTypeObject* type) {
  for (; type != NULL; type = (PyTypeObject*)PyType_GetSlot(type, Py_tp_base)) {
    PyObject* module = PyType_GetModule(type);
    if (module != NULL && PyModule_GetDef(module) == &airlock_module)
      return state_of_module(module);
    PyErr_Clear();
    if ((PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) == 0)
      break; /* Its slots may not be asked for. */
  }
  PyErr_SetString(PyExc_TypeError, "not a type of airlock");
  return NULL;
}

static PyObject* gate_name(PyObject* module, PyObject* args) {
  PyObject *prefix, *key;
  Text first, second;
  if (!PyArg_ParseTuple(args, "OO:gate_name", &prefix, &key) ||
      text_from(prefix, "prefix", &first) < 0)
    return NULL;
  if (bytes_from(key, "key", &second) < 0) {
    drop_text(&first);
    return NULL;
  }
  char name[AIRLOCK_NAME_SIZE];
  airlock_error error;
  init_error(&error);
  const int32_t status = airlock_gate_name(first.text, second.text, name, &error);
  drop_text(&first);
  drop_text(&second);
  if (status != AIRLOCK_DONE) return raise_failure(state_of_module(module), status, &error);
  return PyUnicode_FromString(name);
}

/* An attribute that is an int, or 0 where it is None. */
static int number_of(PyObject* key, const char* name, int64_t* number, uint32_t* given) {
  PyObject* value = PyObject_GetAttrString(key, name);
  if (value == NULL) return -1;
  if (value != Py_None) {
    *number = PyLong_AsLongLong(value);
    if (given != NULL) *given = 1;
  }
  Py_DECREF(value);
  return PyErr_Occurred() ? -1 : 0;
}

/* An attribute that is text, or none. */
static int part_of(PyObject* key, const char* name, Text* text) {
  PyObject* value = PyObject_GetAttrString(key, name);
  if (value == NULL) return -1;
  const int result = value == Py_None ? 0 : text_from(value, name, text);
  Py_DECREF(value);
  return result;
}

static int storage_key_from(PyObject* object, airlock_storage_key* key, Text* connection,
                            Text* destiny) {
  if (number_of(object, "bot", &key->bot, NULL) < 0 ||
      number_of(object, "chat", &key->chat, NULL) < 0 ||
      number_of(object, "user", &key->user, NULL) < 0 ||
      number_of(object, "thread", &key->thread, &key->has_thread) < 0 ||
      part_of(object, "business_connection", connection) < 0 ||
      part_of(object, "destiny", destiny) < 0) {
    return -1;
  }
  key->business_connection = connection->text;
  key->destiny = destiny->text;
  return 0;
}

static PyObject* storage_key_bytes(State* state, const airlock_storage_key* key) {
  size_t needed = 0;
  airlock_error error;
  init_error(&error);
  int32_t status = airlock_storage_key_text(key, NULL, 0, &needed, &error);
  if (status != AIRLOCK_DONE) return raise_failure(state, status, &error);
  PyObject* result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)needed);
  if (result == NULL) return NULL;
  status = airlock_storage_key_text(key, PyBytes_AsString(result), needed, &needed, &error);
  if (status == AIRLOCK_DONE) return result;
  Py_DECREF(result);
  return raise_failure(state, status, &error);
}

static PyObject* storage_key_text(PyObject* module, PyObject* object) {
  airlock_storage_key key = {.size = sizeof key};
  Text connection = {NULL, {NULL, 0}}, destiny = {NULL, {NULL, 0}};
  PyObject* result = NULL;
  if (storage_key_from(object, &key, &connection, &destiny) == 0)
    result = storage_key_bytes(state_of_module(module), &key);
  drop_text(&connection);
  drop_text(&destiny);
  return result;
}

static PyObject* after_fork(PyObject* module, PyObject* Py_UNUSED(ignored)) {
  State* state = state_of_module(module);
  ++state->forks;
  state->main_thread = PyThread_get_thread_ident();
  drop_spare_mailboxes(state);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"gate_name", gate_name, METH_VARARGS,
     "gate_name($module, prefix, key, /)\n--\n\nA legal gate name for any key."},
    {"storage_key_text", storage_key_text, METH_O, NULL},
    {"_after_fork", after_fork, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject* add_type(PyObject* module, PyType_Spec* spec, const char* name) {
  PyObject* type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (type == NULL) return NULL;
  Py_INCREF(type);
  if (PyModule_AddObject(module, name, type) < 0) {
    Py_DECREF(type);
    Py_CLEAR(type);
  }
  return (PyTypeObject*)type;
}

/* Signal handlers run in that thread only. */
static int find_main_thread(State* state) {
  PyObject* threading = PyImport_ImportModule("threading");
  PyObject* main = threading == NULL ? NULL : PyObject_CallMethod(threading, "main_thread", NULL);
  PyObject* ident = main == NULL ? NULL : PyObject_GetAttrString(main, "ident");
  if (ident != NULL) state->main_thread = PyLong_AsUnsignedLong(ident);
  Py_XDECREF(ident);
  Py_XDECREF(main);
  Py_XDECREF(threading);
  return PyErr_Occurred() ? -1 : 0;
}

static int module_exec(PyObject* module) {
  State* state = state_of_module(module);
  if (airlock_abi() != AIRLOCK_ABI) {
    PyErr_Format(PyExc_ImportError, "libairlock-c has interface %u; this module needs %u",
                 airlock_abi(), AIRLOCK_ABI);
    return -1;
  }
  if (add_exceptions(module, state) < 0 || find_main_thread(state) < 0) return -1;
  if ((state->store_type = add_type(module, &store_spec, "Store")) == NULL) return -1;
  if ((state->gate_type = add_type(module, &gate_spec, "Gate")) == NULL) return -1;
  if ((state->lease_type = add_type(module, &lease_spec, "Lease")) == NULL) return -1;
  if ((state->mailbox_type = add_type(module, &mailbox_spec, "Mailbox")) == NULL) return -1;
  if ((state->seal_type = add_type(module, &seal_spec, "Seal")) == NULL) return -1;
  if (PyModule_AddFunctions(module, seal_functions) < 0) return -1;
  return PyModule_AddStringConstant(module, "version", airlock_version());
}

static int module_traverse(PyObject* module, visitproc visit, void* arg) {
  State* state = state_of_module(module);
  Py_VISIT(state->error);
  Py_VISIT(state->refused);
  Py_VISIT(state->store_error);
  Py_VISIT(state->lease_expired);
  Py_VISIT(state->store_type);
  Py_VISIT(state->gate_type);
  Py_VISIT(state->lease_type);
  Py_VISIT(state->mailbox_type);
  Py_VISIT(state->seal_type);
  return 0;
}

/* Types are kept: objects that are freed after this still use them. The module is freed with the last of these. */
static int module_clear(PyObject* module) {
  drop_spare_mailboxes(state_of_module(module));
  return 0;
}

static void module_free(void* module) {
  State* state = state_of_module((PyObject*)module);
  if (state == NULL) return;
  drop_spare_mailboxes(state);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef airlock_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "airlock._airlock",
    .m_doc = "What the package airlock is made of. Use that.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__airlock(void) { return PyModuleDef_Init(&airlock_module); }

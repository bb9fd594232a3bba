/* Visitors that come and go, as browsers do: what they get is a token. */
#include "binding.h"

/* (status, token, fence, expires_in, position, waiting, next_check, eta); status: 0 in, 1 queued. */
static PyObject* visit_tuple(const airlock_answer* answer, int queued) {
  return Py_BuildValue("(isKNIINN)", queued, answer->token, (unsigned long long)answer->fence,
                       seconds_object(answer->expires_in), answer->position, answer->waiting,
                       seconds_object(answer->next_check), seconds_object(answer->eta));
}

static PyObject* visit_result(GateObject* gate, int32_t status, const airlock_answer* answer,
                              const airlock_error* error) {
  switch (status) {
    case AIRLOCK_DONE:
    case AIRLOCK_QUEUED:
      return visit_tuple(answer, status == AIRLOCK_QUEUED);
    case AIRLOCK_NOTHING:
      Py_RETURN_NONE;
    case AIRLOCK_REFUSED:
      return raise_refused(gate->state, gate->name, gate->limit, answer);
    default:
      return raise_failure(gate->state, status, error);
  }
}

PyObject* gate_admit(GateObject* gate, PyObject* args, PyObject* keywords) {
  static char* names[] = {"visitor", "weight", "priority", "cost", "label", NULL};
  PyObject *who, *weight = NULL, *priority = NULL, *cost = NULL, *label = NULL;
  airlock_visitor visitor;
  Ask ask;
  if (!is_open_gate(gate)) return NULL;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOOO:admit", names, &who, &weight, &priority,
                                   &cost, &label))
    return NULL;
  if (visitor_from(gate->state, who, &visitor) < 0 ||
      ask_from(weight, priority, cost, label, &ask) < 0)
    return NULL;
  airlock_error error;
  init_error(&error);
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  int32_t status;
  CALL_STORE(status, gate->local,
             airlock_visitor_admit(gate->gate, visitor, &ask.ask, &answer, &error));
  drop_ask(&ask);
  return visit_result(gate, status, &answer, &error);
}

PyObject* gate_claim(GateObject* gate, PyObject* who) {
  airlock_visitor visitor;
  if (!is_open_gate(gate) || visitor_from(gate->state, who, &visitor) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  int32_t status;
  CALL_STORE(status, gate->local, airlock_visitor_claim(gate->gate, visitor, &answer, &error));
  return visit_result(gate, status, &answer, &error);
}

typedef int32_t (*VisitorStep)(const airlock_gate*, airlock_visitor, airlock_error*);

static PyObject* visitor_step(GateObject* gate, PyObject* who, VisitorStep step) {
  airlock_visitor visitor;
  if (!is_open_gate(gate) || visitor_from(gate->state, who, &visitor) < 0) return NULL;
  airlock_error error;
  init_error(&error);
  int32_t status;
  CALL_STORE(status, gate->local, step(gate->gate, visitor, &error));
  if (status < 0) return raise_failure(gate->state, status, &error);
  return PyBool_FromLong(status == AIRLOCK_DONE);
}

PyObject* gate_leave(GateObject* gate, PyObject* who) {
  return visitor_step(gate, who, airlock_visitor_leave);
}

PyObject* gate_mark_absent(GateObject* gate, PyObject* who) {
  return visitor_step(gate, who, airlock_visitor_mark_absent);
}

/* What Airlock\Store offers operators. */
#include "php_airlock.h"
#include "zend_exceptions.h"

/* Ends the method with an exception where the call failed. */
#define CHECK(status, error)                                   \
  do {                                                         \
    int32_t checked = (status);                                \
    if (checked < 0) {                                         \
      throw_failure(checked, &(error), store_exception_class); \
      RETURN_THROWS();                                         \
    }                                                          \
  } while (0)

#define STORE()                                   \
  airlock_error error = AIRLOCK_ERROR_INIT;       \
  airlock_store* store = store_handle(ZEND_THIS); \
  if (store == NULL) RETURN_THROWS()

#define GATE_ONLY()                 \
  zend_string* gate;                \
  ZEND_PARSE_PARAMETERS_START(1, 1) \
  Z_PARAM_STR(gate)                 \
  ZEND_PARSE_PARAMETERS_END();      \
  STORE()

static void add_text(zval* array, const char* key, airlock_text text) {
  add_assoc_stringl(array, key, text.data == NULL ? "" : text.data, text.size);
}

static void add_visitor(zval* array, airlock_visitor visitor) {
  char text[VISITOR_TEXT];
  visitor_text(visitor, text);
  add_assoc_stringl(array, "visitor", text, VISITOR_TEXT - 1);
}

typedef int32_t (*lists)(const airlock_store*, airlock_list**, airlock_error*);

static void return_list(zval* return_value, airlock_store* store, lists ask) {
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_list* list = NULL;
  int32_t status = ask(store, &list, &error);
  CHECK(status, error);
  array_init(return_value);
  for (size_t at = 0; at < airlock_list_size(list); ++at) {
    airlock_text text = airlock_list_at(list, at);
    add_next_index_stringl(return_value, text.data, text.size);
  }
  airlock_list_free(list);
}

ZEND_METHOD(Airlock_Store, list) {
  ZEND_PARSE_PARAMETERS_NONE();
  airlock_store* store = store_handle(ZEND_THIS);
  if (store != NULL) return_list(return_value, store, airlock_gates);
}

ZEND_METHOD(Airlock_Store, doctor) {
  ZEND_PARSE_PARAMETERS_NONE();
  airlock_store* store = store_handle(ZEND_THIS);
  if (store != NULL) return_list(return_value, store, airlock_doctor);
}

ZEND_METHOD(Airlock_Store, metrics) {
  ZEND_PARSE_PARAMETERS_NONE();
  STORE();
  airlock_list* list = NULL;
  int32_t status = airlock_metrics(store, &list, &error);
  CHECK(status, error);
  airlock_text text = airlock_list_at(list, 0);
  RETVAL_STRINGL(text.data == NULL ? "" : text.data, text.size);
  airlock_list_free(list);
}

static void add_summary(zval* view, const airlock_summary* summary) {
  zval refused;
  add_assoc_long(view, "inUse", summary->in_use);
  add_assoc_long(view, "limit", summary->limit);
  add_assoc_bool(view, "overridden", summary->override_limit >= 0);
  add_assoc_bool(view, "exclusive", summary->exclusive);
  add_assoc_bool(view, "limitsDisagree", summary->limits_disagree);
  add_assoc_long(view, "lastFence", (zend_long)summary->last_fence);
  add_assoc_long(view, "granted", (zend_long)summary->granted);
  array_init(&refused);
  for (int32_t reason = 0; reason < 6; ++reason) {
    add_assoc_long(&refused, airlock_reason_text(reason), (zend_long)summary->refused[reason]);
  }
  add_assoc_zval(view, "refused", &refused);
  add_assoc_long(view, "expired", (zend_long)summary->expired);
  add_assoc_long(view, "revoked", (zend_long)summary->revoked);
  add_assoc_long(view, "died", (zend_long)summary->died);
  add_assoc_long(view, "missed", (zend_long)summary->missed);
  add_assoc_long(view, "abandoned", (zend_long)summary->abandoned);
}

static void add_holders(zval* view, const airlock_view* seen) {
  zval holders;
  array_init(&holders);
  airlock_holder holder = {.size = sizeof holder};
  for (size_t at = 0; airlock_view_holder(seen, at, &holder, NULL) == AIRLOCK_DONE; ++at) {
    zval one;
    array_init(&one);
    add_visitor(&one, holder.visitor);
    add_text(&one, "label", holder.label);
    add_assoc_long(&one, "weight", holder.weight);
    add_assoc_long(&one, "fence", (zend_long)holder.fence);
    if (holder.slot < 0) {
      add_assoc_null(&one, "slot");
    } else {
      add_assoc_long(&one, "slot", holder.slot);
    }
    add_assoc_double(&one, "age", seconds_of(holder.age));
    add_assoc_double(&one, "remaining", seconds_of(holder.remaining));
    add_assoc_bool(&one, "claimed", holder.claimed);
    add_assoc_bool(&one, "revoked", holder.revoked);
    add_assoc_bool(&one, "detached", holder.detached);
    add_next_index_zval(&holders, &one);
  }
  add_assoc_zval(view, "holders", &holders);
}

static void add_waiters(zval* view, const airlock_view* seen) {
  zval waiters;
  array_init(&waiters);
  airlock_waiter waiter = {.size = sizeof waiter};
  for (size_t at = 0; airlock_view_waiter(seen, at, &waiter, NULL) == AIRLOCK_DONE; ++at) {
    zval one;
    array_init(&one);
    add_visitor(&one, waiter.visitor);
    add_text(&one, "label", waiter.label);
    add_assoc_long(&one, "weight", waiter.weight);
    add_assoc_double(&one, "waited", seconds_of(waiter.waited));
    add_assoc_long(&one, "priority", waiter.priority);
    add_assoc_bool(&one, "present", waiter.present);
    add_assoc_bool(&one, "detached", waiter.detached);
    add_next_index_zval(&waiters, &one);
  }
  add_assoc_zval(view, "waiters", &waiters);
}

static void add_rates(zval* view, const airlock_view* seen) {
  zval rates;
  array_init(&rates);
  airlock_rate rate;
  airlock_rate_info info;
  for (size_t at = 0; airlock_view_rate(seen, at, &rate, &info, NULL) == AIRLOCK_DONE; ++at) {
    zval one;
    array_init(&one);
    add_assoc_long(&one, "count", rate.count);
    add_assoc_double(&one, "period", seconds_of(rate.period));
    add_assoc_long(&one, "remaining", info.remaining);
    add_assoc_double(&one, "retryAfter", seconds_of(info.retry_after));
    add_assoc_double(&one, "resetAfter", seconds_of(info.reset_after));
    add_next_index_zval(&rates, &one);
  }
  add_assoc_zval(view, "rates", &rates);
}

static void add_pauses(zval* view, const airlock_view* seen) {
  zval pauses;
  array_init(&pauses);
  airlock_text reporter;
  int64_t remaining;
  for (size_t at = 0; airlock_view_pause(seen, at, &reporter, &remaining, NULL) == AIRLOCK_DONE;
       ++at) {
    zval one;
    array_init(&one);
    add_text(&one, "reporter", reporter);
    add_assoc_double(&one, "remaining", seconds_of(remaining));
    add_next_index_zval(&pauses, &one);
  }
  add_assoc_zval(view, "pauses", &pauses);
}

ZEND_METHOD(Airlock_Store, look) {
  GATE_ONLY();
  airlock_view* seen = NULL;
  int32_t status = airlock_look(store, text_of(gate), &seen, &error);
  CHECK(status, error);
  if (status == AIRLOCK_NOTHING) return;
  airlock_summary summary = {.size = sizeof summary};
  status = airlock_view_summary(seen, &summary, &error);
  if (status == AIRLOCK_DONE) {
    array_init(return_value);
    add_summary(return_value, &summary);
    add_holders(return_value, seen);
    add_waiters(return_value, seen);
    add_rates(return_value, seen);
    add_pauses(return_value, seen);
  }
  airlock_view_free(seen);
  CHECK(status, error);
}

ZEND_METHOD(Airlock_Store, counts) {
  GATE_ONLY();
  airlock_counts counts = {.size = sizeof counts};
  int32_t status = airlock_count(store, text_of(gate), &counts, &error);
  CHECK(status, error);
  array_init(return_value);
  add_assoc_long(return_value, "inUse", counts.in_use);
  add_assoc_long(return_value, "limit", counts.limit);
  add_assoc_bool(return_value, "overridden", counts.overridden);
  add_assoc_long(return_value, "holders", counts.holders);
  add_assoc_long(return_value, "waiting", counts.waiting);
  add_assoc_bool(return_value, "exclusive", counts.exclusive);
}

ZEND_METHOD(Airlock_Store, setLimit) {
  zend_string* gate;
  zend_long limit;
  bool clear;
  ZEND_PARSE_PARAMETERS_START(2, 2)
  Z_PARAM_STR(gate)
  Z_PARAM_LONG_OR_NULL(limit, clear)
  ZEND_PARSE_PARAMETERS_END();
  if (!clear && (limit < 0 || limit > UINT32_MAX)) {
    zend_argument_value_error(2, "must be between 0 and %u", UINT32_MAX);
    RETURN_THROWS();
  }
  STORE();
  int32_t status = clear ? airlock_limit_clear(store, text_of(gate), &error)
                         : airlock_limit_set(store, text_of(gate), (uint32_t)limit, &error);
  CHECK(status, error);
}

ZEND_METHOD(Airlock_Store, pause) {
  zend_string *gate, *reporter = NULL;
  double seconds;
  int64_t duration;
  ZEND_PARSE_PARAMETERS_START(2, 3)
  Z_PARAM_STR(gate)
  Z_PARAM_DOUBLE(seconds)
  Z_PARAM_OPTIONAL
  Z_PARAM_STR(reporter)
  ZEND_PARSE_PARAMETERS_END();
  if (!duration_of(seconds, false, 2, &duration)) RETURN_THROWS();
  STORE();
  airlock_text by = reporter != NULL ? text_of(reporter) : airlock_str("");
  CHECK(airlock_pause(store, text_of(gate), duration, by, &error), error);
}

ZEND_METHOD(Airlock_Store, resume) {
  zend_string *gate, *reporter = NULL;
  ZEND_PARSE_PARAMETERS_START(1, 2)
  Z_PARAM_STR(gate)
  Z_PARAM_OPTIONAL
  Z_PARAM_STR(reporter)
  ZEND_PARSE_PARAMETERS_END();
  STORE();
  int32_t status = airlock_resume(store, text_of(gate),
                                  reporter != NULL ? text_of(reporter) : airlock_str(""), &error);
  CHECK(status, error);
  RETURN_BOOL(status == AIRLOCK_DONE);
}

ZEND_METHOD(Airlock_Store, revoke) {
  zend_string *gate, *visitor = NULL;
  bool now = false;
  ZEND_PARSE_PARAMETERS_START(1, 3)
  Z_PARAM_STR(gate)
  Z_PARAM_OPTIONAL
  Z_PARAM_STR_OR_NULL(visitor)
  Z_PARAM_BOOL(now)
  ZEND_PARSE_PARAMETERS_END();
  airlock_visitor whom;
  if (visitor != NULL && !visitor_parse(visitor, &whom)) {
    zend_argument_value_error(2, "must be a visitor as look() shows it: 32 hexadecimal digits");
    RETURN_THROWS();
  }
  STORE();
  size_t count = 0;
  CHECK(airlock_revoke(store, text_of(gate), visitor != NULL ? &whom : NULL, now, &count, &error),
        error);
  RETURN_LONG((zend_long)count);
}

ZEND_METHOD(Airlock_Store, purge) {
  GATE_ONLY();
  int32_t status = airlock_purge(store, text_of(gate), &error);
  CHECK(status, error);
  RETURN_BOOL(status == AIRLOCK_DONE);
}

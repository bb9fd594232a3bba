#include "php_airlock.h"
#include "zend_exceptions.h"
#include "zend_fibers.h"
#include "zend_interfaces.h"

typedef struct {
  shared_store* store; /* NULL: not constructed. */
  airlock_gate* gate;
  zend_string* name;
  zend_long max;
  int64_t max_wait;
  zval accepted; /* A callable, or undefined. */
  zval rejected;
  zend_object std;
} bulkhead;

static zend_object_handlers handlers;

/* Each call() inside a call() takes some of the C stack, and PHP does not guard that. */
#define MOST_NESTED 1000

static zend_object* create(zend_class_entry* class) {
  bulkhead* self = zend_object_alloc(sizeof(bulkhead), class);
  memset(self, 0, XtOffsetOf(bulkhead, std));
  ZVAL_UNDEF(&self->accepted);
  ZVAL_UNDEF(&self->rejected);
  zend_object_std_init(&self->std, class);
  object_properties_init(&self->std, class);
  self->std.handlers = &handlers;
  return &self->std;
}

static void destroy(zend_object* object) {
  bulkhead* self = OBJECT_OF(bulkhead, object);
  airlock_gate_free(self->gate);
  if (self->store != NULL) store_release(self->store);
  if (self->name != NULL) zend_string_release(self->name);
  zval_ptr_dtor(&self->accepted);
  zval_ptr_dtor(&self->rejected);
  zend_object_std_dtor(object);
}

/* Callbacks may refer to the bulkhead. */
static HashTable* garbage(zend_object* object, zval** table, int* count) {
  bulkhead* self = OBJECT_OF(bulkhead, object);
  zend_get_gc_buffer* buffer = zend_get_gc_buffer_create();
  zend_get_gc_buffer_add_zval(buffer, &self->accepted);
  zend_get_gc_buffer_add_zval(buffer, &self->rejected);
  zend_get_gc_buffer_use(buffer, table, count);
  return zend_std_get_properties(object);
}

void bulkhead_startup(void) {
  bulkhead_class->create_object = create;
  bulkhead_class->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
  handlers = *zend_get_std_object_handlers();
  handlers.offset = XtOffsetOf(bulkhead, std);
  handlers.free_obj = destroy;
  handlers.clone_obj = NULL;
  handlers.get_gc = garbage;
}

static bulkhead* constructed(zval* this) {
  bulkhead* self = OBJECT_OF(bulkhead, Z_OBJ_P(this));
  if (self->gate != NULL) return self;
  throw_unconstructed(&self->std);
  return NULL;
}

/* --- Construction --- */

static bool gate_open(bulkhead* self, zend_string* name, int64_t ttl, bool renew) {
  airlock_gate_options options = {.size = sizeof options,
                                  .limit = (uint32_t)self->max,
                                  .ttl = ttl,
                                  .max_hold = renew ? 0 : ttl};
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status =
      airlock_gate_open(self->store->handle, text_of(name), &options, &self->gate, &error);
  if (status != AIRLOCK_DONE) throw_failure(status, &error, store_exception_class);
  return status == AIRLOCK_DONE;
}

ZEND_METHOD(Airlock_Bulkhead, __construct) {
  zend_string *name, *uri = NULL;
  zend_object* store = NULL;
  zend_long max;
  double lease = 30, max_wait = 0;
  zend_fcall_info accepted = empty_fcall_info, rejected = empty_fcall_info;
  zend_fcall_info_cache ignored;
  bool renew = false;
  ZEND_PARSE_PARAMETERS_START(2, 8)
  Z_PARAM_STR(name)
  Z_PARAM_LONG(max)
  Z_PARAM_OPTIONAL
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(store, store_class, uri)
  Z_PARAM_DOUBLE(lease)
  Z_PARAM_DOUBLE(max_wait)
  Z_PARAM_FUNC_OR_NULL(accepted, ignored)
  Z_PARAM_FUNC_OR_NULL(rejected, ignored)
  Z_PARAM_BOOL(renew)
  ZEND_PARSE_PARAMETERS_END();

  bulkhead* self = OBJECT_OF(bulkhead, Z_OBJ_P(ZEND_THIS));
  int64_t ttl, patience;
  if (self->store != NULL) {
    throw_constructed();
    RETURN_THROWS();
  }
  if (max < 1 || max > UINT32_MAX) {
    zend_argument_value_error(2, "must be between 1 and %u", UINT32_MAX);
    RETURN_THROWS();
  }
  if (!duration_of(lease, false, 4, &ttl) || !duration_of(max_wait, true, 5, &patience))
    RETURN_THROWS();
  if ((self->store = store_of(store, uri)) == NULL) RETURN_THROWS();
  self->max = max;
  self->max_wait = patience;
  if (!gate_open(self, name, ttl, renew)) {
    store_release(self->store);
    self->store = NULL;
    RETURN_THROWS();
  }
  self->name = zend_string_copy(name);
  if (ZEND_FCI_INITIALIZED(accepted)) ZVAL_COPY(&self->accepted, &accepted.function_name);
  if (ZEND_FCI_INITIALIZED(rejected)) ZVAL_COPY(&self->rejected, &rejected.function_name);
}

/* --- Entering --- */

/* Calls a callback, if there is one. Afterwards there may be an exception. */
static void notify(bulkhead* self, zval* callback, int64_t waited) {
  if (Z_TYPE_P(callback) == IS_UNDEF) return;
  zval arguments[2], ignored, called;
  ZVAL_COPY(&called, callback);
  ZVAL_STR_COPY(&arguments[0], self->name);
  ZVAL_DOUBLE(&arguments[1], seconds_of(waited));
  ZVAL_UNDEF(&ignored);
  call_user_function(NULL, NULL, &called, &ignored, 2, arguments);
  zval_ptr_dtor(&arguments[0]);
  zval_ptr_dtor(&ignored);
  zval_ptr_dtor(&called);
}

/* Whether it was let in. Otherwise there may be an exception, of a store or of a callback. */
static bool enter(bulkhead* self, int64_t max_wait, held* into, airlock_answer* answer) {
  /* Only what has to be set: this is on every request's way. */
  airlock_error error;
  error.size = sizeof error;
  error.text[0] = 0;
  error.outcome = error.kind = 0;
  answer->size = offsetof(airlock_answer, token);
  int32_t status = airlock_enter(self->gate, NULL, max_wait, &into->lease, answer, &error);
  if (status == AIRLOCK_DONE) {
    notify(self, &self->accepted, answer->waited);
  } else if (status == AIRLOCK_REFUSED) {
    notify(self, &self->rejected, answer->waited);
  } else {
    throw_failure(status, &error, acquiring_class);
  }
  return status == AIRLOCK_DONE && EG(exception) == NULL;
}

/* The same, where a refusal is an exception. Not inlined: the answer is large, and calls nest. */
static zend_never_inline bool enter_or_throw(bulkhead* self, held* into) {
  airlock_answer answer;
  if (enter(self, self->max_wait, into, &answer)) return true;
  if (EG(exception) == NULL) throw_refusal(self->name, self->max, &answer);
  return false;
}

/* What became of the lease does not change what the work returned. */
static zend_never_inline void give_back(held* one) {
  if (one->lease != NULL) airlock_lease_release(one->lease, NULL);
}

static bool may_nest(void) {
  if (EG(active_fiber) != NULL || AIRLOCK_G(nested) < MOST_NESTED) return true;
  zend_throw_error(NULL, "Airlock\\Bulkhead::call() is nested more than %d deep", MOST_NESTED);
  return false;
}

static void run(zend_fcall_info* work, zend_fcall_info_cache* cache, zval* return_value) {
  bool counted = EG(active_fiber) == NULL;
  zval result;
  ZVAL_UNDEF(&result);
  work->retval = &result;
  AIRLOCK_G(nested) += counted;
  zend_call_function(work, cache);
  AIRLOCK_G(nested) -= counted;
  if (Z_TYPE(result) == IS_UNDEF) return;
  if (Z_ISREF(result)) zend_unwrap_reference(&result);
  ZVAL_COPY_VALUE(return_value, &result);
}

/* Work that wants its lease gets an object of it. */
static void call_with_lease(bulkhead* self, zend_fcall_info* work, zend_fcall_info_cache* cache,
                            zval* return_value) {
  zval lease;
  held* one = lease_create(&lease);
  if (enter_or_throw(self, one)) {
    work->params = &lease;
    work->param_count = 1;
    run(work, cache, return_value);
    give_back(one);
  }
  zval_ptr_dtor(&lease);
}

ZEND_METHOD(Airlock_Bulkhead, call) {
  zend_fcall_info work;
  zend_fcall_info_cache cache;
  ZEND_PARSE_PARAMETERS_START(1, 1)
  Z_PARAM_FUNC(work, cache)
  ZEND_PARSE_PARAMETERS_END();

  bulkhead* self = constructed(ZEND_THIS);
  if (self == NULL || !may_nest()) RETURN_THROWS();
  if (cache.function_handler != NULL && cache.function_handler->common.required_num_args > 0) {
    call_with_lease(self, &work, &cache, return_value);
    return;
  }
  /* Not on the stack: after a fatal error the list still has it. */
  held* one = ecalloc(1, sizeof *one);
  held_add(one);
  if (enter_or_throw(self, one)) {
    run(&work, &cache, return_value);
    give_back(one);
  }
  held_drop(one);
  efree(one);
}

ZEND_METHOD(Airlock_Bulkhead, acquire) {
  ZEND_PARSE_PARAMETERS_NONE();
  bulkhead* self = constructed(ZEND_THIS);
  if (self == NULL) RETURN_THROWS();
  zval lease;
  if (enter_or_throw(self, lease_create(&lease))) {
    RETURN_COPY_VALUE(&lease);
  }
  zval_ptr_dtor(&lease);
}

ZEND_METHOD(Airlock_Bulkhead, tryAcquire) {
  ZEND_PARSE_PARAMETERS_NONE();
  bulkhead* self = constructed(ZEND_THIS);
  if (self == NULL) RETURN_THROWS();
  zval lease;
  airlock_answer answer;
  if (enter(self, 0, lease_create(&lease), &answer)) {
    RETURN_COPY_VALUE(&lease);
  }
  zval_ptr_dtor(&lease);
}

/* --- Reading --- */

ZEND_METHOD(Airlock_Bulkhead, availableSlots) {
  ZEND_PARSE_PARAMETERS_NONE();
  bulkhead* self = constructed(ZEND_THIS);
  if (self == NULL) RETURN_THROWS();
  airlock_counts counts = {.size = sizeof counts};
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_count(self->store->handle, text_of(self->name), &counts, &error);
  if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, store_exception_class);
    RETURN_THROWS();
  }
  bool known = counts.limit != 0 || counts.overridden;
  zend_long most = known ? counts.limit : self->max;
  RETURN_LONG(most > counts.in_use ? most - counts.in_use : 0);
}

ZEND_METHOD(Airlock_Bulkhead, name) {
  ZEND_PARSE_PARAMETERS_NONE();
  bulkhead* self = constructed(ZEND_THIS);
  if (self != NULL) RETURN_STR_COPY(self->name);
}

ZEND_METHOD(Airlock_Bulkhead, maxConcurrent) {
  ZEND_PARSE_PARAMETERS_NONE();
  bulkhead* self = constructed(ZEND_THIS);
  if (self != NULL) RETURN_LONG(self->max);
}

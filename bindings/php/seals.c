#include "php_airlock.h"
#include "zend_exceptions.h"

typedef struct {
  airlock_seal* seal; /* NULL: not constructed. */
  zend_string* resource;
  zend_object std;
} seal_object;

static zend_object_handlers handlers;

static zend_object* create(zend_class_entry* class) {
  seal_object* self = zend_object_alloc(sizeof(seal_object), class);
  self->seal = NULL;
  self->resource = NULL;
  zend_object_std_init(&self->std, class);
  object_properties_init(&self->std, class);
  self->std.handlers = &handlers;
  return &self->std;
}

static void destroy(zend_object* object) {
  seal_object* self = OBJECT_OF(seal_object, object);
  airlock_seal_free(self->seal);
  if (self->resource != NULL) zend_string_release(self->resource);
  zend_object_std_dtor(object);
}

void seals_startup(void) {
  zend_class_entry* classes[] = {lock_class, semaphore_class, rates_class, cooldown_class,
                                 composite_class};
  for (size_t at = 0; at < sizeof classes / sizeof *classes; ++at) {
    classes[at]->create_object = create;
    classes[at]->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
  }
  handlers = *zend_get_std_object_handlers();
  handlers.offset = XtOffsetOf(seal_object, std);
  handlers.free_obj = destroy;
  handlers.clone_obj = NULL;
}

static seal_object* constructed(zend_object* object) {
  seal_object* self = OBJECT_OF(seal_object, object);
  if (self->seal != NULL) return self;
  throw_unconstructed(object);
  return NULL;
}

/* --- Construction --- */

/* NULL where it is constructed already, or its store is none: then there is an exception. */
static shared_store* begin(zval* this, zend_object* store, zend_string* uri) {
  if (OBJECT_OF(seal_object, Z_OBJ_P(this))->seal == NULL) return store_of(store, uri);
  throw_constructed();
  return NULL;
}

static void finish(zval* this, shared_store* store, zend_string* resource, int32_t status,
                   airlock_seal* seal, const airlock_error* error) {
  store_release(store);
  if (status != AIRLOCK_DONE) {
    throw_failure(status, error, store_exception_class);
    return;
  }
  seal_object* self = OBJECT_OF(seal_object, Z_OBJ_P(this));
  self->seal = seal;
  self->resource = zend_string_copy(resource);
}

ZEND_METHOD(Airlock_LockSeal, __construct) {
  zend_string *resource, *uri = NULL;
  zend_object* object = NULL;
  double seconds = 300;
  ZEND_PARSE_PARAMETERS_START(1, 3)
  Z_PARAM_STR(resource)
  Z_PARAM_OPTIONAL
  Z_PARAM_DOUBLE(seconds)
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(object, store_class, uri)
  ZEND_PARSE_PARAMETERS_END();
  int64_t ttl;
  shared_store* store;
  if (!duration_of(seconds, false, 2, &ttl) || (store = begin(ZEND_THIS, object, uri)) == NULL)
    RETURN_THROWS();
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_seal* seal = NULL;
  int32_t status = airlock_seal_lock(store->handle, text_of(resource), ttl, &seal, &error);
  finish(ZEND_THIS, store, resource, status, seal, &error);
}

static bool is_count(zend_long count, uint32_t parameter) {
  if (count >= 1 && count <= UINT32_MAX) return true;
  zend_argument_value_error(parameter, "must be between 1 and %u", UINT32_MAX);
  return false;
}

ZEND_METHOD(Airlock_SemaphoreSeal, __construct) {
  zend_string *resource, *uri = NULL;
  zend_object* object = NULL;
  zend_long limit, weight = 1;
  double seconds = 300;
  ZEND_PARSE_PARAMETERS_START(2, 5)
  Z_PARAM_STR(resource)
  Z_PARAM_LONG(limit)
  Z_PARAM_OPTIONAL
  Z_PARAM_LONG(weight)
  Z_PARAM_DOUBLE(seconds)
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(object, store_class, uri)
  ZEND_PARSE_PARAMETERS_END();
  int64_t ttl;
  shared_store* store;
  if (!is_count(limit, 2) || !is_count(weight, 3) || !duration_of(seconds, false, 4, &ttl) ||
      (store = begin(ZEND_THIS, object, uri)) == NULL) {
    RETURN_THROWS();
  }
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_seal* seal = NULL;
  int32_t status = airlock_seal_semaphore(store->handle, text_of(resource), (uint32_t)limit,
                                          (uint32_t)weight, ttl, &seal, &error);
  finish(ZEND_THIS, store, resource, status, seal, &error);
}

/* What fits into a gate is checked by the library; this bounds what is copied for it. */
#define MOST_RATES 16

static bool rate_parse(zend_string* text, airlock_rate* rate) {
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_rate_parse(text_of(text), rate, &error);
  if (status != AIRLOCK_DONE) throw_failure(status, &error, store_exception_class);
  return status == AIRLOCK_DONE;
}

/* How many; 0 and an exception where they are wrong. */
static size_t rates_of(HashTable* texts, zend_string* text, airlock_rate rates[MOST_RATES]) {
  if (text != NULL) return rate_parse(text, rates) ? 1 : 0;
  size_t count = 0;
  zval* one;
  if (zend_hash_num_elements(texts) < 1 || zend_hash_num_elements(texts) > MOST_RATES) {
    zend_argument_value_error(2, "must have between 1 and %d rates", MOST_RATES);
    return 0;
  }
  ZEND_HASH_FOREACH_VAL(texts, one) {
    ZVAL_DEREF(one);
    if (Z_TYPE_P(one) != IS_STRING) {
      zend_argument_type_error(2, "must be a list of strings, %s found", zend_zval_type_name(one));
      return 0;
    }
    if (!rate_parse(Z_STR_P(one), &rates[count])) return 0;
    ++count;
  }
  ZEND_HASH_FOREACH_END();
  return count;
}

ZEND_METHOD(Airlock_RateLimiterSeal, __construct) {
  zend_string *resource, *text, *uri = NULL;
  HashTable* texts;
  zend_object* object = NULL;
  ZEND_PARSE_PARAMETERS_START(2, 3)
  Z_PARAM_STR(resource)
  Z_PARAM_ARRAY_HT_OR_STR(texts, text)
  Z_PARAM_OPTIONAL
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(object, store_class, uri)
  ZEND_PARSE_PARAMETERS_END();
  airlock_rate rates[MOST_RATES];
  size_t count = rates_of(texts, text, rates);
  shared_store* store;
  if (count == 0 || (store = begin(ZEND_THIS, object, uri)) == NULL) RETURN_THROWS();
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_seal* seal = NULL;
  int32_t status =
      airlock_seal_rates(store->handle, text_of(resource), rates, count, 0, &seal, &error);
  finish(ZEND_THIS, store, resource, status, seal, &error);
}

ZEND_METHOD(Airlock_CooldownSeal, __construct) {
  zend_string *resource, *uri = NULL;
  zend_object* object = NULL;
  double seconds;
  ZEND_PARSE_PARAMETERS_START(2, 3)
  Z_PARAM_STR(resource)
  Z_PARAM_DOUBLE(seconds)
  Z_PARAM_OPTIONAL
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(object, store_class, uri)
  ZEND_PARSE_PARAMETERS_END();
  int64_t period;
  shared_store* store;
  if (!duration_of(seconds, false, 2, &period) || (store = begin(ZEND_THIS, object, uri)) == NULL)
    RETURN_THROWS();
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_seal* seal = NULL;
  int32_t status = airlock_seal_cooldown(store->handle, text_of(resource), period, &seal, &error);
  finish(ZEND_THIS, store, resource, status, seal, &error);
}

static bool is_one_of(zval* value, zend_class_entry* one, zend_class_entry* other) {
  return instanceof_function(Z_OBJCE_P(value), one) || instanceof_function(Z_OBJCE_P(value), other);
}

ZEND_METHOD(Airlock_CompositeSeal, __construct) {
  zval *locking, *limiting;
  ZEND_PARSE_PARAMETERS_START(2, 2)
  Z_PARAM_OBJECT(locking)
  Z_PARAM_OBJECT(limiting)
  ZEND_PARSE_PARAMETERS_END();
  if (!is_one_of(locking, lock_class, semaphore_class)) {
    zend_argument_type_error(1,
                             "must be of type Airlock\\LockSeal|Airlock\\SemaphoreSeal, %s given",
                             ZSTR_VAL(Z_OBJCE_P(locking)->name));
    RETURN_THROWS();
  }
  if (!is_one_of(limiting, rates_class, cooldown_class)) {
    zend_argument_type_error(
        2, "must be of type Airlock\\RateLimiterSeal|Airlock\\CooldownSeal, %s given",
        ZSTR_VAL(Z_OBJCE_P(limiting)->name));
    RETURN_THROWS();
  }
  seal_object* self = OBJECT_OF(seal_object, Z_OBJ_P(ZEND_THIS));
  if (self->seal != NULL) {
    throw_constructed();
    RETURN_THROWS();
  }
  seal_object* lock = constructed(Z_OBJ_P(locking));
  seal_object* other = lock == NULL ? NULL : constructed(Z_OBJ_P(limiting));
  if (other == NULL) RETURN_THROWS();
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_seal_composite(lock->seal, other->seal, &self->seal, &error);
  if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, store_exception_class);
    RETURN_THROWS();
  }
  self->resource = zend_string_copy(lock->resource);
}

/* --- Asking, of every seal --- */

ZEND_METHOD(Airlock_LockSeal, tryAcquire) {
  ZEND_PARSE_PARAMETERS_NONE();
  seal_object* self = constructed(Z_OBJ_P(ZEND_THIS));
  if (self == NULL) RETURN_THROWS();
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_visitor visitor = {0, 0};
  bool locking = airlock_seal_is_locking(self->seal);
  airlock_seal_ask ask = {.size = sizeof ask, .visitor = &visitor};
  int32_t status = locking ? AIRLOCK_DONE : airlock_visitor_random(&visitor, &error);
  if (status == AIRLOCK_DONE)
    status = airlock_seal_try(self->seal, locking ? NULL : &ask, &answer, &error);
  if (status == AIRLOCK_REFUSED) return;
  if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, acquiring_class);
  } else if (!locking) {
    token_create_empty(return_value, ZSTR_VAL(self->resource), visitor);
  } else {
    token_object* token = token_create(return_value, airlock_str(answer.token));
    if (token != NULL) token->deadline = answer.deadline;
  }
}

/* --- Tokens, of seals that lock --- */

/* Ends the method with an exception where seal or token are not constructed. */
#define SEAL_AND_TOKEN(token)                                  \
  seal_object* self = constructed(Z_OBJ_P(ZEND_THIS));         \
  zend_string* text = self == NULL ? NULL : token_text(token); \
  if (text == NULL) RETURN_THROWS()

#define TOKEN_ONLY()                       \
  zend_object* token;                      \
  ZEND_PARSE_PARAMETERS_START(1, 1)        \
  Z_PARAM_OBJ_OF_CLASS(token, token_class) \
  ZEND_PARSE_PARAMETERS_END();             \
  SEAL_AND_TOKEN(token)

ZEND_METHOD(Airlock_LockSeal, release) {
  TOKEN_ONLY();
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_seal_release(self->seal, text_of(text), &error);
  if (status == AIRLOCK_GONE) {
    zend_throw_exception(releasing_class, "The admission had already ended", 0);
  } else if (status == AIRLOCK_INVALID) {
    zend_throw_exception(releasing_class, error.text, 0);
  } else if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, releasing_class);
  }
}

/* Returns the same object: its end is known to whoever has it. */
ZEND_METHOD(Airlock_LockSeal, refresh) {
  zend_object* token;
  double seconds = 0;
  bool default_ttl = true;
  ZEND_PARSE_PARAMETERS_START(1, 2)
  Z_PARAM_OBJ_OF_CLASS(token, token_class)
  Z_PARAM_OPTIONAL
  Z_PARAM_DOUBLE_OR_NULL(seconds, default_ttl)
  ZEND_PARSE_PARAMETERS_END();
  int64_t ttl = 0;
  if (!default_ttl && !duration_of(seconds, false, 2, &ttl)) RETURN_THROWS();
  SEAL_AND_TOKEN(token);
  airlock_answer answer = AIRLOCK_ANSWER_INIT;
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_seal_renew(self->seal, text_of(text), ttl, &answer, &error);
  if (status == AIRLOCK_DONE) {
    OBJECT_OF(token_object, token)->deadline = answer.deadline;
    RETURN_OBJ_COPY(token);
  }
  if (status == AIRLOCK_GONE) {
    zend_throw_exception(expired_class, "The admission has ended", 0);
  } else if (status == AIRLOCK_INVALID) {
    zend_throw_exception(expired_class, error.text, 0);
  } else {
    throw_failure(status, &error, store_exception_class);
  }
}

/* Whether the store has it. May leave an exception. */
static bool holds(seal_object* self, zend_string* text) {
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_seal_holds(self->seal, text_of(text), &error);
  /* A token of another gate is not held here. */
  if (status < 0 && status != AIRLOCK_INVALID) throw_failure(status, &error, store_exception_class);
  return status == AIRLOCK_DONE;
}

ZEND_METHOD(Airlock_LockSeal, isAcquired) {
  TOKEN_ONLY();
  RETURN_BOOL(holds(self, text));
}

ZEND_METHOD(Airlock_LockSeal, isExpired) {
  TOKEN_ONLY();
  int64_t deadline = OBJECT_OF(token_object, token)->deadline;
  if (deadline != 0) RETURN_BOOL(airlock_seal_remaining(self->seal, deadline) == 0);
  RETURN_BOOL(!holds(self, text));
}

ZEND_METHOD(Airlock_LockSeal, getRemainingLifetime) {
  TOKEN_ONLY();
  int64_t deadline = OBJECT_OF(token_object, token)->deadline;
  if (deadline != 0) RETURN_DOUBLE(seconds_of(airlock_seal_remaining(self->seal, deadline)));
}

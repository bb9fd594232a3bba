#include "php_airlock.h"
#include "zend_exceptions.h"

typedef struct {
  shared_store* store; /* NULL: not constructed. */
  airlock_isolation* isolation;
  int64_t timeout;
  zend_string* prefix;
  zend_string* separator;
  bool with_bot;
  bool with_business_connection;
  bool with_destiny;
  zend_object std;
} isolation;

static zend_object_handlers handlers;

/* --- StorageKey: its properties are all there is. --- */

enum { BOT, CHAT, USER, THREAD, BUSINESS_CONNECTION, DESTINY, KEY_PROPERTIES };

static const char* const property_names[KEY_PROPERTIES] = {
    "botId", "chatId", "userId", "threadId", "businessConnectionId", "destiny"};

static void set(zval* key, int property, zval* value) {
  const char* name = property_names[property];
  zend_update_property(key_class, Z_OBJ_P(key), name, strlen(name), value);
}

ZEND_METHOD(Airlock_StorageKey, __construct) {
  zend_long bot, chat, user, thread = 0;
  bool no_thread = true;
  zend_string *business_connection = NULL, *destiny = NULL;
  ZEND_PARSE_PARAMETERS_START(3, 6)
  Z_PARAM_LONG(bot)
  Z_PARAM_LONG(chat)
  Z_PARAM_LONG(user)
  Z_PARAM_OPTIONAL
  Z_PARAM_LONG_OR_NULL(thread, no_thread)
  Z_PARAM_STR_OR_NULL(business_connection)
  Z_PARAM_STR(destiny)
  ZEND_PARSE_PARAMETERS_END();

  zval values[KEY_PROPERTIES];
  ZVAL_LONG(&values[BOT], bot);
  ZVAL_LONG(&values[CHAT], chat);
  ZVAL_LONG(&values[USER], user);
  ZVAL_NULL(&values[THREAD]);
  if (!no_thread) ZVAL_LONG(&values[THREAD], thread);
  ZVAL_NULL(&values[BUSINESS_CONNECTION]);
  if (business_connection != NULL) ZVAL_STR(&values[BUSINESS_CONNECTION], business_connection);
  zend_string* place =
      destiny != NULL ? zend_string_copy(destiny) : zend_string_init(ZEND_STRL("default"), 0);
  ZVAL_STR(&values[DESTINY], place);
  for (int at = 0; at < KEY_PROPERTIES && EG(exception) == NULL; ++at)
    set(ZEND_THIS, at, &values[at]);
  zend_string_release(place);
}

/* A property, of one that was constructed; else NULL and an Error. */
static zval* get(zend_object* key, int property) {
  zval* value = OBJ_PROP_NUM(key, property);
  if (Z_TYPE_P(value) != IS_UNDEF) return value;
  throw_unconstructed(key);
  return NULL;
}

ZEND_METHOD(Airlock_StorageKey, withDestiny) {
  zend_string* destiny;
  ZEND_PARSE_PARAMETERS_START(1, 1)
  Z_PARAM_STR(destiny)
  ZEND_PARSE_PARAMETERS_END();
  object_init_ex(return_value, key_class);
  for (int at = 0; at < DESTINY; ++at) {
    zval* value = get(Z_OBJ_P(ZEND_THIS), at);
    if (value == NULL) RETURN_THROWS();
    set(return_value, at, value);
  }
  zval place;
  ZVAL_STR(&place, destiny);
  set(return_value, DESTINY, &place);
}

static zend_string* key_text(const isolation* self, zend_object* key) {
  for (int at = 0; at < KEY_PROPERTIES; ++at) {
    if (get(key, at) == NULL) return NULL;
  }
  zval *thread = get(key, THREAD), *connection = get(key, BUSINESS_CONNECTION);
  airlock_storage_key parts = {.size = sizeof parts,
                               .has_thread = Z_TYPE_P(thread) == IS_LONG,
                               .bot = Z_LVAL_P(get(key, BOT)),
                               .chat = Z_LVAL_P(get(key, CHAT)),
                               .user = Z_LVAL_P(get(key, USER)),
                               .destiny = text_of(Z_STR_P(get(key, DESTINY))),
                               .prefix = text_of(self->prefix),
                               .separator = text_of(self->separator),
                               .with_bot = self->with_bot,
                               .with_business_connection = self->with_business_connection,
                               .with_destiny = self->with_destiny};
  if (parts.has_thread) parts.thread = Z_LVAL_P(thread);
  if (Z_TYPE_P(connection) == IS_STRING) parts.business_connection = text_of(Z_STR_P(connection));
  airlock_error error = AIRLOCK_ERROR_INIT;
  size_t needed = 0;
  int32_t status = airlock_storage_key_text(&parts, NULL, 0, &needed, &error);
  if (status == AIRLOCK_DONE) {
    zend_string* text = zend_string_alloc(needed, 0);
    status = airlock_storage_key_text(&parts, ZSTR_VAL(text), needed, &needed, &error);
    ZSTR_VAL(text)[ZSTR_LEN(text)] = 0;
    if (status == AIRLOCK_DONE) return text;
    zend_string_release(text);
  }
  throw_failure(status, &error, store_exception_class);
  return NULL;
}

/* --- EventIsolation --- */

static zend_object* create(zend_class_entry* class) {
  isolation* self = zend_object_alloc(sizeof(isolation), class);
  memset(self, 0, XtOffsetOf(isolation, std));
  zend_object_std_init(&self->std, class);
  object_properties_init(&self->std, class);
  self->std.handlers = &handlers;
  return &self->std;
}

static void destroy(zend_object* object) {
  isolation* self = OBJECT_OF(isolation, object);
  airlock_isolation_free(self->isolation);
  if (self->store != NULL) store_release(self->store);
  if (self->prefix != NULL) zend_string_release(self->prefix);
  if (self->separator != NULL) zend_string_release(self->separator);
  zend_object_std_dtor(object);
}

void isolation_startup(void) {
  isolation_class->create_object = create;
  isolation_class->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
  handlers = *zend_get_std_object_handlers();
  handlers.offset = XtOffsetOf(isolation, std);
  handlers.free_obj = destroy;
  handlers.clone_obj = NULL;
}

static bool isolation_open(isolation* self, int64_t ttl, bool renew) {
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status =
      airlock_isolation_open(self->store->handle, ttl, renew ? 0 : ttl, &self->isolation, &error);
  if (status != AIRLOCK_DONE) throw_failure(status, &error, store_exception_class);
  return status == AIRLOCK_DONE;
}

ZEND_METHOD(Airlock_EventIsolation, __construct) {
  zend_object* store = NULL;
  zend_string *uri = NULL, *prefix = NULL, *separator = NULL;
  double lock_ttl = 60, acquire_timeout = 0;
  bool default_timeout = true, renew = false, with_bot = false, with_business_connection = false,
       with_destiny = false;
  ZEND_PARSE_PARAMETERS_START(0, 9)
  Z_PARAM_OPTIONAL
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(store, store_class, uri)
  Z_PARAM_DOUBLE(lock_ttl)
  Z_PARAM_DOUBLE_OR_NULL(acquire_timeout, default_timeout)
  Z_PARAM_BOOL(renew)
  Z_PARAM_STR(prefix)
  Z_PARAM_STR(separator)
  Z_PARAM_BOOL(with_bot)
  Z_PARAM_BOOL(with_business_connection)
  Z_PARAM_BOOL(with_destiny)
  ZEND_PARSE_PARAMETERS_END();

  isolation* self = OBJECT_OF(isolation, Z_OBJ_P(ZEND_THIS));
  int64_t ttl;
  if (self->store != NULL) {
    throw_constructed();
    RETURN_THROWS();
  }
  if (!duration_of(lock_ttl, false, 2, &ttl)) RETURN_THROWS();
  if (default_timeout) {
    self->timeout = 2 * ttl;
  } else if (!duration_of(acquire_timeout, true, 3, &self->timeout)) {
    RETURN_THROWS();
  }
  if (separator != NULL && ZSTR_LEN(separator) == 0) {
    zend_argument_value_error(6, "cannot be empty");
    RETURN_THROWS();
  }
  if ((self->store = store_of(store, uri)) == NULL) RETURN_THROWS();
  if (!isolation_open(self, ttl, renew)) {
    store_release(self->store);
    self->store = NULL;
    RETURN_THROWS();
  }
  self->prefix = prefix != NULL ? zend_string_copy(prefix) : zend_string_init(ZEND_STRL("fsm"), 0);
  self->separator =
      separator != NULL ? zend_string_copy(separator) : zend_string_init(ZEND_STRL(":"), 0);
  self->with_bot = with_bot;
  self->with_business_connection = with_business_connection;
  self->with_destiny = with_destiny;
}

static void lock(isolation* self, zend_string* key, zval* return_value) {
  zval lease;
  held* one = lease_create(&lease);
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_isolation_lock(self->isolation, text_of(key), self->timeout, &one->lease,
                                          NULL, &error);
  if (status == AIRLOCK_DONE) {
    RETURN_COPY_VALUE(&lease);
  }
  zval_ptr_dtor(&lease);
  if (status == AIRLOCK_REFUSED) {
    throw_key_timeout(key, self->timeout);
  } else {
    throw_failure(status, &error, acquiring_class);
  }
}

ZEND_METHOD(Airlock_EventIsolation, lock) {
  zend_object* parts = NULL;
  zend_string* key = NULL;
  ZEND_PARSE_PARAMETERS_START(1, 1)
  Z_PARAM_OBJ_OF_CLASS_OR_STR(parts, key_class, key)
  ZEND_PARSE_PARAMETERS_END();
  isolation* self = OBJECT_OF(isolation, Z_OBJ_P(ZEND_THIS));
  if (self->isolation == NULL) {
    throw_unconstructed(&self->std);
    RETURN_THROWS();
  }
  key = parts != NULL ? key_text(self, parts) : zend_string_copy(key);
  if (key == NULL) RETURN_THROWS();
  lock(self, key, return_value);
  zend_string_release(key);
}

ZEND_METHOD(Airlock_EventIsolation, close) { ZEND_PARSE_PARAMETERS_NONE(); }

#include "php_airlock.h"
#include "zend_exceptions.h"

typedef struct {
  shared_store* store;
  zend_object std;
} store_object;

static zend_object_handlers handlers;

/* A program that makes up URIs does not fill the memory: beyond this, stores that nobody uses are closed. */
#define MOST_STORES 64

void store_release(shared_store* store) {
  if (--store->references > 0) return;
  airlock_store_free(store->handle);
  pefree(store, 1);
}

void store_release_entry(zval* entry) { store_release(Z_PTR_P(entry)); }

static int is_unused(zval* entry) {
  return ((shared_store*)Z_PTR_P(entry))->references == 1 ? ZEND_HASH_APPLY_REMOVE
                                                          : ZEND_HASH_APPLY_KEEP;
}

static shared_store* store_at(airlock_text uri) {
  HashTable* stores = &AIRLOCK_G(stores);
  shared_store* store = zend_hash_str_find_ptr(stores, uri.data, uri.size);
  if (store != NULL) {
    ++store->references;
    return store;
  }
  airlock_error error = AIRLOCK_ERROR_INIT;
  airlock_store* handle = NULL;
  int32_t status = airlock_store_open(uri, &handle, &error);
  if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, store_exception_class);
    return NULL;
  }
  if (zend_hash_num_elements(stores) >= MOST_STORES) zend_hash_apply(stores, is_unused);
  store = pemalloc(sizeof *store, 1);
  store->handle = handle;
  store->references = 2; /* The table, and the caller. */
  zend_hash_str_add_new_ptr(stores, uri.data, uri.size, store);
  return store;
}

static shared_store* store_of_object(zend_object* object) {
  shared_store* store = OBJECT_OF(store_object, object)->store;
  if (store == NULL) throw_unconstructed(object);
  return store;
}

shared_store* store_of(zend_object* object, zend_string* uri) {
  if (object == NULL)
    return store_at(uri != NULL ? text_of(uri) : airlock_str(AIRLOCK_G(default_store)));
  shared_store* store = store_of_object(object);
  if (store != NULL) ++store->references;
  return store;
}

static zend_object* create(zend_class_entry* class) {
  store_object* self = zend_object_alloc(sizeof(store_object), class);
  self->store = NULL;
  zend_object_std_init(&self->std, class);
  object_properties_init(&self->std, class);
  self->std.handlers = &handlers;
  return &self->std;
}

static void destroy(zend_object* object) {
  store_object* self = OBJECT_OF(store_object, object);
  if (self->store != NULL) store_release(self->store);
  zend_object_std_dtor(object);
}

void store_startup(void) {
  store_class->create_object = create;
  store_class->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE | ZEND_ACC_NO_DYNAMIC_PROPERTIES;
  handlers = *zend_get_std_object_handlers();
  handlers.offset = XtOffsetOf(store_object, std);
  handlers.free_obj = destroy;
  handlers.clone_obj = NULL;
}

airlock_store* store_handle(zval* this) {
  shared_store* store = store_of_object(Z_OBJ_P(this));
  return store == NULL ? NULL : store->handle;
}

ZEND_METHOD(Airlock_Store, __construct) {
  zend_string* uri = NULL;
  ZEND_PARSE_PARAMETERS_START(0, 1)
  Z_PARAM_OPTIONAL
  Z_PARAM_STR_OR_NULL(uri)
  ZEND_PARSE_PARAMETERS_END();
  store_object* self = OBJECT_OF(store_object, Z_OBJ_P(ZEND_THIS));
  if (self->store != NULL) {
    throw_constructed();
  } else {
    self->store = store_of(NULL, uri);
  }
}

static int is_store(zval* entry, void* store) {
  return Z_PTR_P(entry) == store ? ZEND_HASH_APPLY_REMOVE : ZEND_HASH_APPLY_KEEP;
}

/* The process, and its next request, open another one under the same URI. */
ZEND_METHOD(Airlock_Store, close) {
  ZEND_PARSE_PARAMETERS_NONE();
  shared_store* store = store_of_object(Z_OBJ_P(ZEND_THIS));
  if (store == NULL) RETURN_THROWS();
  zend_hash_apply_with_argument(&AIRLOCK_G(stores), is_store, store);
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_store_close(store->handle, &error);
  if (status != AIRLOCK_DONE) throw_failure(status, &error, store_exception_class);
}

typedef int32_t (*waits)(airlock_store*, int64_t, airlock_error*);

static void wait_for(INTERNAL_FUNCTION_PARAMETERS, waits wait) {
  double seconds;
  ZEND_PARSE_PARAMETERS_START(1, 1)
  Z_PARAM_DOUBLE(seconds)
  ZEND_PARSE_PARAMETERS_END();
  int64_t at_most;
  if (!duration_of(seconds, true, 1, &at_most)) RETURN_THROWS();
  airlock_store* store = store_handle(ZEND_THIS);
  if (store == NULL) RETURN_THROWS();
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = wait(store, at_most, &error);
  if (status == AIRLOCK_DONE || status == AIRLOCK_NOTHING) RETURN_BOOL(status == AIRLOCK_DONE);
  throw_failure(status, &error, store_exception_class);
}

ZEND_METHOD(Airlock_Store, drain) {
  wait_for(INTERNAL_FUNCTION_PARAM_PASSTHRU, airlock_store_drain);
}

ZEND_METHOD(Airlock_Store, flush) {
  wait_for(INTERNAL_FUNCTION_PARAM_PASSTHRU, airlock_store_flush);
}

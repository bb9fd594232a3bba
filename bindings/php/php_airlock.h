/*
 * The PHP extension over airlock.h, in C: the engine leaves functions by longjmp, and no destructor of C++ must be skipped.
 *
 * What belongs to the request is in the list of leases (lease.c), which the end of the request empties, however the
 * request ends. What belongs to the process are the stores (store.c). Nothing is opened before a script asks.
 */
#ifndef PHP_AIRLOCK_H
#define PHP_AIRLOCK_H

#include "airlock.h"
#include "php.h"

#define PHP_AIRLOCK_VERSION "0.9.0"

extern zend_module_entry airlock_module_entry;

/* --- Leases of this request (lease.c) --- */

typedef struct held held;
struct held {
  airlock_lease* lease;
  held* next;
  held** link; /* What points to this one. NULL: not in the list. */
};

void held_add(held* one);
void held_drop(held* one); /* Gives back without waiting. */
void held_drop_all(void);

/* --- Stores of this process (store.c) --- */

typedef struct {
  airlock_store* handle;
  uint32_t references;
} shared_store;

ZEND_BEGIN_MODULE_GLOBALS(airlock)
char* default_store;
HashTable stores; /* URI -> shared_store */
held* held;
uint32_t nested; /* call() inside call(), outside of fibers. */
ZEND_END_MODULE_GLOBALS(airlock)

ZEND_EXTERN_MODULE_GLOBALS(airlock)
#define AIRLOCK_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(airlock, v)

#if defined(ZTS) && defined(COMPILE_DL_AIRLOCK)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* The store of a parameter `Store|string|null`; NULL and an exception where there is none. To be released. */
shared_store* store_of(zend_object* object, zend_string* uri);
void store_release(shared_store* store);
void store_release_entry(zval* entry); /* Of the table of stores. */
/* Of an Airlock\Store; NULL and an Error where its constructor did not run. */
airlock_store* store_handle(zval* object);

/* --- Failures (failures.c) --- */

/* Throws what a failure is in PHP. `store_failure` is the class for a store that failed. */
void throw_failure(int32_t status, const airlock_error* error, zend_class_entry* store_failure);
void throw_refusal(zend_string* name, zend_long max, const airlock_answer* answer);
void throw_key_timeout(zend_string* key, int64_t timeout);

/* --- Values --- */

static inline airlock_text text_of(zend_string* string) {
  airlock_text text = {ZSTR_VAL(string), ZSTR_LEN(string)};
  return text;
}

static inline double seconds_of(int64_t duration) {
  return duration == AIRLOCK_FOREVER ? ZEND_INFINITY : (double)duration / 1e6;
}

/* False and a ValueError for what is no duration. */
bool duration_of(double seconds, bool zero, uint32_t parameter, int64_t* duration);

/* A struct that ends with a zend_object named std. */
#define OBJECT_OF(type, object) ((type*)((char*)(object)-XtOffsetOf(type, std)))

#define VISITOR_TEXT 33
void visitor_text(airlock_visitor visitor, char text[VISITOR_TEXT]);
bool visitor_parse(zend_string* text, airlock_visitor* visitor);

typedef struct {
  zend_string* text; /* NULL: not constructed. */
  zend_string* resource;
  airlock_visitor visitor;
  int64_t deadline; /* 0: not known here. */
  zend_object std;
} token_object;

/* A Lease of nothing yet, in the list. */
held* lease_create(zval* value);
/* A SealToken from its text; NULL and a ValueError for what is none. */
token_object* token_create(zval* value, airlock_text text);
/* One of a seal that grants nothing to release: its text is empty. */
token_object* token_create_empty(zval* value, const char* resource, airlock_visitor visitor);
/* The text; NULL and an Error where there is none, as after an unserialize() that failed. */
zend_string* token_text(zend_object* token);

/* --- Classes --- */

extern zend_class_entry *store_class, *lease_class, *token_class, *bulkhead_class, *isolation_class,
    *key_class;
extern zend_class_entry *lock_class, *semaphore_class, *rates_class, *cooldown_class,
    *composite_class;
extern zend_class_entry *exception_class, *store_exception_class, *acquiring_class,
    *releasing_class, *expired_class, *full_class, *key_timeout_class;

/* The handlers and constructors of each class, once it is registered. */
void store_startup(void);
void lease_startup(void);
void token_startup(void);
void bulkhead_startup(void);
void isolation_startup(void);
void seals_startup(void);

/* Thrown by methods of an object whose constructor did not run. */
void throw_unconstructed(zend_object* object);
/* A second call of a constructor. */
void throw_constructed(void);

#endif

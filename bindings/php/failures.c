#include <math.h>

#include "php_airlock.h"
#include "zend_exceptions.h"

static const char* kind_text(int32_t kind) {
  switch (kind) {
    case AIRLOCK_KIND_BUSY:
      return "busy";
    case AIRLOCK_KIND_NO_ROOM:
      return "no_room";
    case AIRLOCK_KIND_CLOSED:
      return "closed";
    case AIRLOCK_KIND_INCOMPATIBLE:
      return "incompatible";
    default:
      return "unavailable";
  }
}

static void create(zval* exception, zend_class_entry* class, zend_string* message) {
  object_init_ex(exception, class);
  zend_update_property_str(zend_ce_exception, Z_OBJ_P(exception), ZEND_STRL("message"), message);
  zend_string_release(message);
}

/* Properties are readonly: only the class that declares one may set it. */
#define SET(type, name, ...) \
  zend_update_property_##type(class, Z_OBJ(exception), ZEND_STRL(name), __VA_ARGS__)

void throw_failure(int32_t status, const airlock_error* error, zend_class_entry* store_failure) {
  if (status == AIRLOCK_INVALID) {
    zend_value_error("%s", error->text);
    return;
  }
  if (status != AIRLOCK_FAILED && status != AIRLOCK_NO_MEMORY) {
    zend_throw_error(NULL, "airlock: unexpected answer %d: %s", status, error->text);
    return;
  }
  if (!instanceof_function(store_failure, store_exception_class)) {
    zend_throw_exception(store_failure, error->text, 0);
    return;
  }
  zval exception;
  zend_class_entry* class = store_exception_class;
  create(&exception, store_failure, zend_string_init(error->text, strlen(error->text), 0));
  SET(string, "kind", status == AIRLOCK_NO_MEMORY ? "no_room" : kind_text(error->kind));
  SET(bool, "mayHaveHappened", error->outcome != AIRLOCK_NOTHING_HAPPENED);
  zend_throw_exception_object(&exception);
}

void throw_refusal(zend_string* name, zend_long max, const airlock_answer* answer) {
  zval exception;
  zend_class_entry* class = full_class;
  const char* reason = airlock_reason_text(answer->reason);
  create(&exception, class,
         answer->reason == AIRLOCK_REASON_FULL
             ? strpprintf(0, "Bulkhead \"%s\" is full (max " ZEND_LONG_FMT " concurrent)",
                          ZSTR_VAL(name), max)
             : strpprintf(0, "Bulkhead \"%s\" refused: %s (max " ZEND_LONG_FMT " concurrent)",
                          ZSTR_VAL(name), reason, max));
  SET(str, "name", name);
  SET(long, "maxConcurrent", max);
  SET(string, "reason", reason);
  SET(double, "waited", seconds_of(answer->waited));
  SET(double, "retryAfter", seconds_of(answer->retry_after));
  zend_throw_exception_object(&exception);
}

void throw_key_timeout(zend_string* key, int64_t timeout) {
  zval exception;
  zend_class_entry* class = key_timeout_class;
  create(&exception, class,
         strpprintf(0, "The key \"%s\" was not free within %.3f s", ZSTR_VAL(key),
                    seconds_of(timeout)));
  SET(str, "key", key);
  SET(double, "timeout", seconds_of(timeout));
  zend_throw_exception_object(&exception);
}

void throw_unconstructed(zend_object* object) {
  zend_throw_error(NULL, "%s is not constructed: a constructor must call parent::__construct()",
                   ZSTR_VAL(object->ce->name));
}

void throw_constructed(void) { zend_throw_error(NULL, "An object of airlock is constructed once"); }

/* Thirty years: what is longer is a mistake in units. */
#define MOST_SECONDS 1e9

bool duration_of(double seconds, bool zero, uint32_t parameter, int64_t* duration) {
  if (!isfinite(seconds) || seconds < 0 || seconds > MOST_SECONDS || (seconds == 0 && !zero)) {
    zend_argument_value_error(parameter, "must be a number of seconds, %s and at most 1e9",
                              zero ? "0 or more" : "above 0");
    return false;
  }
  *duration = (int64_t)ceil(seconds * 1e6);
  return true;
}

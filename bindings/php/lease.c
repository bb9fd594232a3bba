#include "php_airlock.h"
#include "zend_exceptions.h"

typedef struct {
  held held;
  zend_object std;
} lease_object;

static zend_object_handlers handlers;

void held_add(held* one) {
  one->next = AIRLOCK_G(held);
  if (one->next != NULL) one->next->link = &one->next;
  one->link = &AIRLOCK_G(held);
  AIRLOCK_G(held) = one;
}

void held_drop(held* one) {
  if (one->link != NULL) {
    *one->link = one->next;
    if (one->next != NULL) one->next->link = one->link;
    one->link = NULL;
  }
  airlock_lease* lease = one->lease;
  one->lease = NULL;
  airlock_lease_free(lease);
}

void held_drop_all(void) {
  while (AIRLOCK_G(held) != NULL) held_drop(AIRLOCK_G(held));
}

static zend_object* create(zend_class_entry* class) {
  lease_object* self = zend_object_alloc(sizeof(lease_object), class);
  memset(&self->held, 0, sizeof self->held);
  zend_object_std_init(&self->std, class);
  object_properties_init(&self->std, class);
  self->std.handlers = &handlers;
  return &self->std;
}

/* May come after the end of the request, when the list is empty. */
static void destroy(zend_object* object) {
  held_drop(&OBJECT_OF(lease_object, object)->held);
  zend_object_std_dtor(object);
}

held* lease_create(zval* value) {
  object_init_ex(value, lease_class);
  held* one = &OBJECT_OF(lease_object, Z_OBJ_P(value))->held;
  held_add(one);
  return one;
}

void lease_startup(void) {
  lease_class->create_object = create;
  lease_class->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE | ZEND_ACC_NO_DYNAMIC_PROPERTIES;
  handlers = *zend_get_std_object_handlers();
  handlers.offset = XtOffsetOf(lease_object, std);
  handlers.free_obj = destroy;
  handlers.clone_obj = NULL;
}

#define LEASE() (OBJECT_OF(lease_object, Z_OBJ_P(ZEND_THIS))->held.lease)

ZEND_METHOD(Airlock_Lease, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Airlock_Lease, adopt) {
  zend_object *token, *store = NULL;
  zend_string *text, *uri = NULL;
  double seconds = 30;
  ZEND_PARSE_PARAMETERS_START(1, 3)
  Z_PARAM_OBJ_OF_CLASS_OR_STR(token, token_class, text)
  Z_PARAM_OPTIONAL
  Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(store, store_class, uri)
  Z_PARAM_DOUBLE(seconds)
  ZEND_PARSE_PARAMETERS_END();

  int64_t ttl;
  if (!duration_of(seconds, false, 3, &ttl)) RETURN_THROWS();
  if (token != NULL && (text = token_text(token)) == NULL) RETURN_THROWS();
  shared_store* opened = store_of(store, uri);
  if (opened == NULL) RETURN_THROWS();
  airlock_error error = AIRLOCK_ERROR_INIT;
  held* one = lease_create(return_value);
  int32_t status = airlock_lease_adopt(opened->handle, text_of(text), ttl, &one->lease, &error);
  store_release(opened);
  if (status == AIRLOCK_DONE) return;
  zval_ptr_dtor(return_value);
  ZVAL_NULL(return_value);
  if (status == AIRLOCK_GONE) {
    zend_throw_exception(expired_class, "The lease of this token has ended", 0);
  } else {
    throw_failure(status, &error, acquiring_class);
  }
}

ZEND_METHOD(Airlock_Lease, release) {
  ZEND_PARSE_PARAMETERS_NONE();
  if (LEASE() == NULL) return;
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_lease_release(LEASE(), &error);
  if (status == AIRLOCK_GONE) {
    zend_throw_exception(releasing_class, "The lease had already ended", 0);
  } else if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, releasing_class);
  }
}

ZEND_METHOD(Airlock_Lease, isValid) {
  ZEND_PARSE_PARAMETERS_NONE();
  RETURN_BOOL(LEASE() != NULL && airlock_lease_valid(LEASE()) == 1);
}

ZEND_METHOD(Airlock_Lease, getRemainingLifetime) {
  ZEND_PARSE_PARAMETERS_NONE();
  RETURN_DOUBLE(LEASE() == NULL ? 0 : seconds_of(airlock_lease_remaining(LEASE())));
}

ZEND_METHOD(Airlock_Lease, fence) {
  ZEND_PARSE_PARAMETERS_NONE();
  RETURN_LONG(LEASE() == NULL ? 0 : (zend_long)airlock_lease_fence(LEASE()));
}

ZEND_METHOD(Airlock_Lease, slot) {
  ZEND_PARSE_PARAMETERS_NONE();
  int64_t slot = LEASE() == NULL ? -1 : airlock_lease_slot(LEASE());
  if (slot >= 0) RETURN_LONG(slot);
}

ZEND_METHOD(Airlock_Lease, detach) {
  ZEND_PARSE_PARAMETERS_NONE();
  char token[AIRLOCK_TOKEN_SIZE];
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = LEASE() == NULL ? AIRLOCK_GONE : airlock_lease_detach(LEASE(), token, &error);
  if (status == AIRLOCK_DONE) {
    token_create(return_value, airlock_str(token));
  } else if (status == AIRLOCK_GONE) {
    zend_throw_exception(expired_class, "The lease had already ended", 0);
  } else {
    throw_failure(status, &error, store_exception_class);
  }
}

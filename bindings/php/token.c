#include "php_airlock.h"
#include "zend_exceptions.h"

static zend_object_handlers handlers;

static const char digits[] = "0123456789abcdef";

void visitor_text(airlock_visitor visitor, char text[VISITOR_TEXT]) {
  for (int at = 0; at < 16; ++at) {
    text[at] = digits[visitor.high >> (60 - 4 * at) & 15];
    text[16 + at] = digits[visitor.low >> (60 - 4 * at) & 15];
  }
  text[32] = 0;
}

bool visitor_parse(zend_string* text, airlock_visitor* visitor) {
  if (ZSTR_LEN(text) != 32) return false;
  uint64_t parts[2] = {0, 0};
  for (int at = 0; at < 32; ++at) {
    const char* digit = strchr(digits, ZSTR_VAL(text)[at]);
    if (digit == NULL || *digit == 0) return false;
    parts[at / 16] = parts[at / 16] << 4 | (uint64_t)(digit - digits);
  }
  visitor->high = parts[0];
  visitor->low = parts[1];
  return true;
}

static zend_object* create(zend_class_entry* class) {
  token_object* self = zend_object_alloc(sizeof(token_object), class);
  memset(self, 0, XtOffsetOf(token_object, std));
  zend_object_std_init(&self->std, class);
  object_properties_init(&self->std, class);
  self->std.handlers = &handlers;
  return &self->std;
}

static void destroy(zend_object* object) {
  token_object* self = OBJECT_OF(token_object, object);
  if (self->text != NULL) zend_string_release(self->text);
  if (self->resource != NULL) zend_string_release(self->resource);
  zend_object_std_dtor(object);
}

void token_startup(void) {
  token_class->create_object = create;
  token_class->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES;
  handlers = *zend_get_std_object_handlers();
  handlers.offset = XtOffsetOf(token_object, std);
  handlers.free_obj = destroy;
  handlers.clone_obj = NULL;
}

/* False and a ValueError for what is no token. */
static bool fill(token_object* self, airlock_text text) {
  airlock_token_parts parts = {.size = sizeof parts};
  airlock_error error = AIRLOCK_ERROR_INIT;
  int32_t status = airlock_token_parse(text, &parts, &error);
  if (status != AIRLOCK_DONE) {
    throw_failure(status, &error, store_exception_class);
    return false;
  }
  self->text = zend_string_init(text.data, text.size, 0);
  self->resource = zend_string_init(parts.gate, strlen(parts.gate), 0);
  self->visitor = parts.visitor;
  return true;
}

token_object* token_create(zval* value, airlock_text text) {
  object_init_ex(value, token_class);
  token_object* self = OBJECT_OF(token_object, Z_OBJ_P(value));
  if (fill(self, text)) return self;
  zval_ptr_dtor(value);
  ZVAL_NULL(value);
  return NULL;
}

token_object* token_create_empty(zval* value, const char* resource, airlock_visitor visitor) {
  object_init_ex(value, token_class);
  token_object* self = OBJECT_OF(token_object, Z_OBJ_P(value));
  self->text = ZSTR_EMPTY_ALLOC();
  self->resource = zend_string_init(resource, strlen(resource), 0);
  self->visitor = visitor;
  return self;
}

zend_string* token_text(zend_object* token) {
  zend_string* text = OBJECT_OF(token_object, token)->text;
  if (text == NULL) throw_unconstructed(token);
  return text;
}

/* Returns where there is no text. */
#define SELF()                                                      \
  ZEND_PARSE_PARAMETERS_NONE();                                     \
  token_object* self = OBJECT_OF(token_object, Z_OBJ_P(ZEND_THIS)); \
  if (token_text(&self->std) == NULL) RETURN_THROWS()

ZEND_METHOD(Airlock_SealToken, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Airlock_SealToken, parse) {
  zend_string* text;
  ZEND_PARSE_PARAMETERS_START(1, 1)
  Z_PARAM_STR(text)
  ZEND_PARSE_PARAMETERS_END();
  token_create(return_value, text_of(text));
}

ZEND_METHOD(Airlock_SealToken, getResource) {
  SELF();
  RETURN_STR_COPY(self->resource);
}

ZEND_METHOD(Airlock_SealToken, getId) {
  SELF();
  char text[VISITOR_TEXT];
  visitor_text(self->visitor, text);
  RETURN_STRINGL(text, VISITOR_TEXT - 1);
}

ZEND_METHOD(Airlock_SealToken, __toString) {
  SELF();
  RETURN_STR_COPY(self->text);
}

/* Its deadline stays: that is of the clock of this host and of this boot. */
ZEND_METHOD(Airlock_SealToken, __serialize) {
  SELF();
  if (ZSTR_LEN(self->text) == 0) {
    zend_throw_exception(
        exception_class,
        "A token of a rate limit cannot be serialized: there is nothing to release", 0);
    RETURN_THROWS();
  }
  array_init(return_value);
  add_assoc_str(return_value, "token", zend_string_copy(self->text));
}

ZEND_METHOD(Airlock_SealToken, __unserialize) {
  HashTable* data;
  ZEND_PARSE_PARAMETERS_START(1, 1)
  Z_PARAM_ARRAY_HT(data)
  ZEND_PARSE_PARAMETERS_END();
  token_object* self = OBJECT_OF(token_object, Z_OBJ_P(ZEND_THIS));
  zval* text = zend_hash_str_find(data, ZEND_STRL("token"));
  if (self->text != NULL) {
    throw_constructed();
  } else if (text == NULL || Z_TYPE_P(text) != IS_STRING) {
    zend_value_error("This is no serialized Airlock\\SealToken");
  } else {
    fill(self, text_of(Z_STR_P(text)));
  }
}

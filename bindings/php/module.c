#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"
#include "php_airlock.h"
#include "php_ini.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* Made from airlock.stub.php; it includes nothing. */
#include "airlock_arginfo.h"

ZEND_DECLARE_MODULE_GLOBALS(airlock)

zend_class_entry *store_class, *lease_class, *token_class, *bulkhead_class, *isolation_class,
    *key_class;
zend_class_entry *lock_class, *semaphore_class, *rates_class, *cooldown_class, *composite_class;
zend_class_entry *exception_class, *store_exception_class, *acquiring_class, *releasing_class,
    *expired_class, *full_class, *key_timeout_class;

/* phpinfo() shows no passwords. */
static ZEND_INI_DISP(show_store) {
  zend_string* value = type == ZEND_INI_DISPLAY_ORIG && ini_entry->modified ? ini_entry->orig_value
                                                                            : ini_entry->value;
  if (value == NULL) return;
  const char* at = zend_memrchr(ZSTR_VAL(value), '@', ZSTR_LEN(value));
  const char* scheme = strstr(ZSTR_VAL(value), "://");
  if (at != NULL && scheme != NULL && scheme < at) {
    PHPWRITE(ZSTR_VAL(value), scheme + 3 - ZSTR_VAL(value));
    PHPWRITE("...", 3);
    PHPWRITE(at, ZSTR_VAL(value) + ZSTR_LEN(value) - at);
  } else {
    PHPWRITE(ZSTR_VAL(value), ZSTR_LEN(value));
  }
}

PHP_INI_BEGIN()
STD_PHP_INI_ENTRY_EX("airlock.store", "shm:", PHP_INI_ALL, OnUpdateString, default_store,
                     zend_airlock_globals, airlock_globals, show_store)
PHP_INI_END()

static PHP_GINIT_FUNCTION(airlock) {
#if defined(ZTS) && defined(COMPILE_DL_AIRLOCK)
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  memset(airlock_globals, 0, sizeof *airlock_globals);
  zend_hash_init(&airlock_globals->stores, 0, NULL, store_release_entry, 1);
}

static PHP_GSHUTDOWN_FUNCTION(airlock) { zend_hash_destroy(&airlock_globals->stores); }

static void register_exceptions(void) {
  exception_class = register_class_Airlock_Exception(spl_ce_RuntimeException);
  store_exception_class = register_class_Airlock_StoreException(exception_class);
  acquiring_class = register_class_Airlock_SealAcquiringException(store_exception_class);
  releasing_class = register_class_Airlock_SealReleasingException(exception_class);
  expired_class = register_class_Airlock_LeaseExpiredException(exception_class);
  full_class = register_class_Airlock_BulkheadFullException(exception_class);
  key_timeout_class = register_class_Airlock_EventIsolationTimeoutException(exception_class);
}

static void register_seals(void) {
  zend_class_entry* seal = register_class_Airlock_Seal();
  zend_class_entry* releasable = register_class_Airlock_ReleasableSeal();
  zend_class_entry* refreshable = register_class_Airlock_RefreshableSeal();
  zend_class_entry* locking = register_class_Airlock_LockingSeal(seal);
  zend_class_entry* limiting = register_class_Airlock_RateLimitingSeal(seal);
  token_class = register_class_Airlock_SealToken(zend_ce_stringable);
  lock_class = register_class_Airlock_LockSeal(locking, releasable, refreshable);
  semaphore_class = register_class_Airlock_SemaphoreSeal(locking, releasable, refreshable);
  rates_class = register_class_Airlock_RateLimiterSeal(limiting);
  cooldown_class = register_class_Airlock_CooldownSeal(limiting);
  composite_class = register_class_Airlock_CompositeSeal(seal, releasable);
}

static PHP_MINIT_FUNCTION(airlock) {
  if (airlock_abi() != AIRLOCK_ABI) {
    zend_error(E_CORE_WARNING, "airlock: libairlock-c has interface %u, and %u is needed",
               airlock_abi(), AIRLOCK_ABI);
    return FAILURE;
  }
  REGISTER_INI_ENTRIES();
  register_exceptions();
  store_class = register_class_Airlock_Store();
  lease_class = register_class_Airlock_Lease();
  bulkhead_class = register_class_Airlock_Bulkhead();
  register_seals();
  key_class = register_class_Airlock_StorageKey();
  isolation_class = register_class_Airlock_EventIsolation();
  store_startup();
  lease_startup();
  token_startup();
  bulkhead_startup();
  seals_startup();
  isolation_startup();
  return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(airlock) {
  UNREGISTER_INI_ENTRIES();
  return SUCCESS;
}

static PHP_RINIT_FUNCTION(airlock) {
#if defined(ZTS) && defined(COMPILE_DL_AIRLOCK)
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  AIRLOCK_G(nested) = 0;
  return SUCCESS;
}

/* After shutdown functions and destructors; also after a fatal error, where no C function returns any more. */
static PHP_RSHUTDOWN_FUNCTION(airlock) {
  held_drop_all();
  return SUCCESS;
}

static PHP_MINFO_FUNCTION(airlock) {
  php_info_print_table_start();
  php_info_print_table_row(2, "airlock", "enabled");
  php_info_print_table_row(2, "Extension version", PHP_AIRLOCK_VERSION);
  php_info_print_table_row(2, "libairlock-c version", airlock_version());
  php_info_print_table_end();
  DISPLAY_INI_ENTRIES();
}

zend_module_entry airlock_module_entry = {STANDARD_MODULE_HEADER,
                                          "airlock",
                                          NULL,
                                          PHP_MINIT(airlock),
                                          PHP_MSHUTDOWN(airlock),
                                          PHP_RINIT(airlock),
                                          PHP_RSHUTDOWN(airlock),
                                          PHP_MINFO(airlock),
                                          PHP_AIRLOCK_VERSION,
                                          PHP_MODULE_GLOBALS(airlock),
                                          PHP_GINIT(airlock),
                                          PHP_GSHUTDOWN(airlock),
                                          NULL,
                                          STANDARD_MODULE_PROPERTIES_EX};

#if defined(ZTS)
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(airlock)

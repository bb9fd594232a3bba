/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e6e053d9b0b44afc8bd1914cf15e9aed88052769 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_Store___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, uri, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_list, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_look, 0, 1, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_counts, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_setLimit, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, limit, IS_LONG, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_pause, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, seconds, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reporter, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_resume, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reporter, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_revoke, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, visitor, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, now, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_purge, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, gate, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_metrics, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_Store_doctor arginfo_class_Airlock_Store_list

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_close, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Store_drain, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, seconds, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_Store_flush arginfo_class_Airlock_Store_drain

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_Lease___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_Lease_adopt, 0, 1, Airlock\\Lease, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, token, Airlock\\SealToken, MAY_BE_STRING, NULL)
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_DOUBLE, 0, "30.0")
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_Lease_release arginfo_class_Airlock_Store_close

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Lease_isValid, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Lease_getRemainingLifetime, 0, 0, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Lease_fence, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Lease_slot, 0, 0, IS_LONG, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_Lease_detach, 0, 0, Airlock\\SealToken, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_Bulkhead___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, maxConcurrent, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_DOUBLE, 0, "30.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxWait, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onAccepted, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onRejected, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, renew, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_Bulkhead_call, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, work, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_Bulkhead_acquire, 0, 0, Airlock\\Lease, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_Bulkhead_tryAcquire, 0, 0, Airlock\\Lease, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_Bulkhead_availableSlots arginfo_class_Airlock_Lease_fence

#define arginfo_class_Airlock_Bulkhead_name arginfo_class_Airlock_Store_metrics

#define arginfo_class_Airlock_Bulkhead_maxConcurrent arginfo_class_Airlock_Lease_fence

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_Seal_tryAcquire, 0, 0, Airlock\\SealToken, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_ReleasableSeal_release, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, token, Airlock\\SealToken, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_RefreshableSeal_refresh, 0, 1, Airlock\\SealToken, 0)
	ZEND_ARG_OBJ_INFO(0, token, Airlock\\SealToken, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSeconds, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_SealToken___construct arginfo_class_Airlock_Lease___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_SealToken_parse, 0, 1, Airlock\\SealToken, 0)
	ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_SealToken_getResource arginfo_class_Airlock_Store_metrics

#define arginfo_class_Airlock_SealToken_getId arginfo_class_Airlock_Store_metrics

#define arginfo_class_Airlock_SealToken___toString arginfo_class_Airlock_Store_metrics

#define arginfo_class_Airlock_SealToken___serialize arginfo_class_Airlock_Store_list

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_SealToken___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_LockSeal___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSeconds, IS_DOUBLE, 0, "300.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_LockSeal_tryAcquire arginfo_class_Airlock_Seal_tryAcquire

#define arginfo_class_Airlock_LockSeal_release arginfo_class_Airlock_ReleasableSeal_release

#define arginfo_class_Airlock_LockSeal_refresh arginfo_class_Airlock_RefreshableSeal_refresh

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_LockSeal_isAcquired, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, token, Airlock\\SealToken, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_LockSeal_isExpired arginfo_class_Airlock_LockSeal_isAcquired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Airlock_LockSeal_getRemainingLifetime, 0, 1, IS_DOUBLE, 1)
	ZEND_ARG_OBJ_INFO(0, token, Airlock\\SealToken, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_SemaphoreSeal___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, limit, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, weight, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSeconds, IS_DOUBLE, 0, "300.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_SemaphoreSeal_tryAcquire arginfo_class_Airlock_Seal_tryAcquire

#define arginfo_class_Airlock_SemaphoreSeal_release arginfo_class_Airlock_ReleasableSeal_release

#define arginfo_class_Airlock_SemaphoreSeal_refresh arginfo_class_Airlock_RefreshableSeal_refresh

#define arginfo_class_Airlock_SemaphoreSeal_isAcquired arginfo_class_Airlock_LockSeal_isAcquired

#define arginfo_class_Airlock_SemaphoreSeal_isExpired arginfo_class_Airlock_LockSeal_isAcquired

#define arginfo_class_Airlock_SemaphoreSeal_getRemainingLifetime arginfo_class_Airlock_LockSeal_getRemainingLifetime

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_RateLimiterSeal___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, rates, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_RateLimiterSeal_tryAcquire arginfo_class_Airlock_Seal_tryAcquire

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_CooldownSeal___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, periodInSeconds, IS_DOUBLE, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_CooldownSeal_tryAcquire arginfo_class_Airlock_Seal_tryAcquire

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_CompositeSeal___construct, 0, 0, 2)
	ZEND_ARG_OBJ_TYPE_MASK(0, lockingSeal, Airlock\\LockSeal|Airlock\\SemaphoreSeal, 0, NULL)
	ZEND_ARG_OBJ_TYPE_MASK(0, rateLimitingSeal, Airlock\\RateLimiterSeal|Airlock\\CooldownSeal, 0, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_CompositeSeal_tryAcquire arginfo_class_Airlock_Seal_tryAcquire

#define arginfo_class_Airlock_CompositeSeal_release arginfo_class_Airlock_ReleasableSeal_release

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_StorageKey___construct, 0, 0, 3)
	ZEND_ARG_TYPE_INFO(0, botId, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, chatId, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, userId, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, threadId, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, businessConnectionId, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, destiny, IS_STRING, 0, "\"default\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_StorageKey_withDestiny, 0, 1, Airlock\\StorageKey, 0)
	ZEND_ARG_TYPE_INFO(0, destiny, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Airlock_EventIsolation___construct, 0, 0, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, store, Airlock\\Store, MAY_BE_STRING|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lockTtlSeconds, IS_DOUBLE, 0, "60.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, acquireTimeoutSeconds, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, renew, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"fsm\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, separator, IS_STRING, 0, "\":\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, withBotId, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, withBusinessConnectionId, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, withDestiny, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Airlock_EventIsolation_lock, 0, 1, Airlock\\Lease, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, key, Airlock\\StorageKey, MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Airlock_EventIsolation_close arginfo_class_Airlock_Store_close


ZEND_METHOD(Airlock_Store, __construct);
ZEND_METHOD(Airlock_Store, list);
ZEND_METHOD(Airlock_Store, look);
ZEND_METHOD(Airlock_Store, counts);
ZEND_METHOD(Airlock_Store, setLimit);
ZEND_METHOD(Airlock_Store, pause);
ZEND_METHOD(Airlock_Store, resume);
ZEND_METHOD(Airlock_Store, revoke);
ZEND_METHOD(Airlock_Store, purge);
ZEND_METHOD(Airlock_Store, metrics);
ZEND_METHOD(Airlock_Store, doctor);
ZEND_METHOD(Airlock_Store, close);
ZEND_METHOD(Airlock_Store, drain);
ZEND_METHOD(Airlock_Store, flush);
ZEND_METHOD(Airlock_Lease, __construct);
ZEND_METHOD(Airlock_Lease, adopt);
ZEND_METHOD(Airlock_Lease, release);
ZEND_METHOD(Airlock_Lease, isValid);
ZEND_METHOD(Airlock_Lease, getRemainingLifetime);
ZEND_METHOD(Airlock_Lease, fence);
ZEND_METHOD(Airlock_Lease, slot);
ZEND_METHOD(Airlock_Lease, detach);
ZEND_METHOD(Airlock_Bulkhead, __construct);
ZEND_METHOD(Airlock_Bulkhead, call);
ZEND_METHOD(Airlock_Bulkhead, acquire);
ZEND_METHOD(Airlock_Bulkhead, tryAcquire);
ZEND_METHOD(Airlock_Bulkhead, availableSlots);
ZEND_METHOD(Airlock_Bulkhead, name);
ZEND_METHOD(Airlock_Bulkhead, maxConcurrent);
ZEND_METHOD(Airlock_SealToken, __construct);
ZEND_METHOD(Airlock_SealToken, parse);
ZEND_METHOD(Airlock_SealToken, getResource);
ZEND_METHOD(Airlock_SealToken, getId);
ZEND_METHOD(Airlock_SealToken, __toString);
ZEND_METHOD(Airlock_SealToken, __serialize);
ZEND_METHOD(Airlock_SealToken, __unserialize);
ZEND_METHOD(Airlock_LockSeal, __construct);
ZEND_METHOD(Airlock_LockSeal, tryAcquire);
ZEND_METHOD(Airlock_LockSeal, release);
ZEND_METHOD(Airlock_LockSeal, refresh);
ZEND_METHOD(Airlock_LockSeal, isAcquired);
ZEND_METHOD(Airlock_LockSeal, isExpired);
ZEND_METHOD(Airlock_LockSeal, getRemainingLifetime);
ZEND_METHOD(Airlock_SemaphoreSeal, __construct);
ZEND_METHOD(Airlock_RateLimiterSeal, __construct);
ZEND_METHOD(Airlock_CooldownSeal, __construct);
ZEND_METHOD(Airlock_CompositeSeal, __construct);
ZEND_METHOD(Airlock_StorageKey, __construct);
ZEND_METHOD(Airlock_StorageKey, withDestiny);
ZEND_METHOD(Airlock_EventIsolation, __construct);
ZEND_METHOD(Airlock_EventIsolation, lock);
ZEND_METHOD(Airlock_EventIsolation, close);


static const zend_function_entry class_Airlock_Exception_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_StoreException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_SealAcquiringException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_SealReleasingException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_LeaseExpiredException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_BulkheadFullException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_EventIsolationTimeoutException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_Store_methods[] = {
	ZEND_ME(Airlock_Store, __construct, arginfo_class_Airlock_Store___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, list, arginfo_class_Airlock_Store_list, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, look, arginfo_class_Airlock_Store_look, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, counts, arginfo_class_Airlock_Store_counts, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, setLimit, arginfo_class_Airlock_Store_setLimit, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, pause, arginfo_class_Airlock_Store_pause, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, resume, arginfo_class_Airlock_Store_resume, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, revoke, arginfo_class_Airlock_Store_revoke, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, purge, arginfo_class_Airlock_Store_purge, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, metrics, arginfo_class_Airlock_Store_metrics, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, doctor, arginfo_class_Airlock_Store_doctor, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, close, arginfo_class_Airlock_Store_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, drain, arginfo_class_Airlock_Store_drain, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Store, flush, arginfo_class_Airlock_Store_flush, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_Lease_methods[] = {
	ZEND_ME(Airlock_Lease, __construct, arginfo_class_Airlock_Lease___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Airlock_Lease, adopt, arginfo_class_Airlock_Lease_adopt, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Airlock_Lease, release, arginfo_class_Airlock_Lease_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Lease, isValid, arginfo_class_Airlock_Lease_isValid, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Lease, getRemainingLifetime, arginfo_class_Airlock_Lease_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Lease, fence, arginfo_class_Airlock_Lease_fence, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Lease, slot, arginfo_class_Airlock_Lease_slot, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Lease, detach, arginfo_class_Airlock_Lease_detach, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_Bulkhead_methods[] = {
	ZEND_ME(Airlock_Bulkhead, __construct, arginfo_class_Airlock_Bulkhead___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Bulkhead, call, arginfo_class_Airlock_Bulkhead_call, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Bulkhead, acquire, arginfo_class_Airlock_Bulkhead_acquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Bulkhead, tryAcquire, arginfo_class_Airlock_Bulkhead_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Bulkhead, availableSlots, arginfo_class_Airlock_Bulkhead_availableSlots, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Bulkhead, name, arginfo_class_Airlock_Bulkhead_name, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_Bulkhead, maxConcurrent, arginfo_class_Airlock_Bulkhead_maxConcurrent, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_Seal_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Airlock_Seal, tryAcquire, arginfo_class_Airlock_Seal_tryAcquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_ReleasableSeal_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Airlock_ReleasableSeal, release, arginfo_class_Airlock_ReleasableSeal_release, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_RefreshableSeal_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Airlock_RefreshableSeal, refresh, arginfo_class_Airlock_RefreshableSeal_refresh, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_LockingSeal_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_RateLimitingSeal_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_SealToken_methods[] = {
	ZEND_ME(Airlock_SealToken, __construct, arginfo_class_Airlock_SealToken___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Airlock_SealToken, parse, arginfo_class_Airlock_SealToken_parse, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Airlock_SealToken, getResource, arginfo_class_Airlock_SealToken_getResource, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_SealToken, getId, arginfo_class_Airlock_SealToken_getId, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_SealToken, __toString, arginfo_class_Airlock_SealToken___toString, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_SealToken, __serialize, arginfo_class_Airlock_SealToken___serialize, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_SealToken, __unserialize, arginfo_class_Airlock_SealToken___unserialize, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_LockSeal_methods[] = {
	ZEND_ME(Airlock_LockSeal, __construct, arginfo_class_Airlock_LockSeal___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_LockSeal, tryAcquire, arginfo_class_Airlock_LockSeal_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_LockSeal, release, arginfo_class_Airlock_LockSeal_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_LockSeal, refresh, arginfo_class_Airlock_LockSeal_refresh, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_LockSeal, isAcquired, arginfo_class_Airlock_LockSeal_isAcquired, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_LockSeal, isExpired, arginfo_class_Airlock_LockSeal_isExpired, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_LockSeal, getRemainingLifetime, arginfo_class_Airlock_LockSeal_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_SemaphoreSeal_methods[] = {
	ZEND_ME(Airlock_SemaphoreSeal, __construct, arginfo_class_Airlock_SemaphoreSeal___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, tryAcquire, tryAcquire, arginfo_class_Airlock_SemaphoreSeal_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, release, release, arginfo_class_Airlock_SemaphoreSeal_release, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, refresh, refresh, arginfo_class_Airlock_SemaphoreSeal_refresh, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, isAcquired, isAcquired, arginfo_class_Airlock_SemaphoreSeal_isAcquired, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, isExpired, isExpired, arginfo_class_Airlock_SemaphoreSeal_isExpired, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, getRemainingLifetime, getRemainingLifetime, arginfo_class_Airlock_SemaphoreSeal_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_RateLimiterSeal_methods[] = {
	ZEND_ME(Airlock_RateLimiterSeal, __construct, arginfo_class_Airlock_RateLimiterSeal___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, tryAcquire, tryAcquire, arginfo_class_Airlock_RateLimiterSeal_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_CooldownSeal_methods[] = {
	ZEND_ME(Airlock_CooldownSeal, __construct, arginfo_class_Airlock_CooldownSeal___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, tryAcquire, tryAcquire, arginfo_class_Airlock_CooldownSeal_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_CompositeSeal_methods[] = {
	ZEND_ME(Airlock_CompositeSeal, __construct, arginfo_class_Airlock_CompositeSeal___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, tryAcquire, tryAcquire, arginfo_class_Airlock_CompositeSeal_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Airlock_LockSeal, release, release, arginfo_class_Airlock_CompositeSeal_release, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_StorageKey_methods[] = {
	ZEND_ME(Airlock_StorageKey, __construct, arginfo_class_Airlock_StorageKey___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_StorageKey, withDestiny, arginfo_class_Airlock_StorageKey_withDestiny, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Airlock_EventIsolation_methods[] = {
	ZEND_ME(Airlock_EventIsolation, __construct, arginfo_class_Airlock_EventIsolation___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_EventIsolation, lock, arginfo_class_Airlock_EventIsolation_lock, ZEND_ACC_PUBLIC)
	ZEND_ME(Airlock_EventIsolation, close, arginfo_class_Airlock_EventIsolation_close, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Airlock_Exception(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "Exception", class_Airlock_Exception_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_StoreException(zend_class_entry *class_entry_Airlock_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "StoreException", class_Airlock_StoreException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Airlock_Exception);

	zval property_kind_default_value;
	ZVAL_UNDEF(&property_kind_default_value);
	zend_string *property_kind_name = zend_string_init("kind", sizeof("kind") - 1, 1);
	zend_declare_typed_property(class_entry, property_kind_name, &property_kind_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_kind_name);

	zval property_mayHaveHappened_default_value;
	ZVAL_UNDEF(&property_mayHaveHappened_default_value);
	zend_string *property_mayHaveHappened_name = zend_string_init("mayHaveHappened", sizeof("mayHaveHappened") - 1, 1);
	zend_declare_typed_property(class_entry, property_mayHaveHappened_name, &property_mayHaveHappened_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_mayHaveHappened_name);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_SealAcquiringException(zend_class_entry *class_entry_Airlock_StoreException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "SealAcquiringException", class_Airlock_SealAcquiringException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Airlock_StoreException);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_SealReleasingException(zend_class_entry *class_entry_Airlock_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "SealReleasingException", class_Airlock_SealReleasingException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Airlock_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_LeaseExpiredException(zend_class_entry *class_entry_Airlock_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "LeaseExpiredException", class_Airlock_LeaseExpiredException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Airlock_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_BulkheadFullException(zend_class_entry *class_entry_Airlock_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "BulkheadFullException", class_Airlock_BulkheadFullException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Airlock_Exception);

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_maxConcurrent_default_value;
	ZVAL_UNDEF(&property_maxConcurrent_default_value);
	zend_string *property_maxConcurrent_name = zend_string_init("maxConcurrent", sizeof("maxConcurrent") - 1, 1);
	zend_declare_typed_property(class_entry, property_maxConcurrent_name, &property_maxConcurrent_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_maxConcurrent_name);

	zval property_reason_default_value;
	ZVAL_UNDEF(&property_reason_default_value);
	zend_string *property_reason_name = zend_string_init("reason", sizeof("reason") - 1, 1);
	zend_declare_typed_property(class_entry, property_reason_name, &property_reason_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_reason_name);

	zval property_waited_default_value;
	ZVAL_UNDEF(&property_waited_default_value);
	zend_string *property_waited_name = zend_string_init("waited", sizeof("waited") - 1, 1);
	zend_declare_typed_property(class_entry, property_waited_name, &property_waited_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_waited_name);

	zval property_retryAfter_default_value;
	ZVAL_UNDEF(&property_retryAfter_default_value);
	zend_string *property_retryAfter_name = zend_string_init("retryAfter", sizeof("retryAfter") - 1, 1);
	zend_declare_typed_property(class_entry, property_retryAfter_name, &property_retryAfter_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_retryAfter_name);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_EventIsolationTimeoutException(zend_class_entry *class_entry_Airlock_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "EventIsolationTimeoutException", class_Airlock_EventIsolationTimeoutException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Airlock_Exception);

	zval property_key_default_value;
	ZVAL_UNDEF(&property_key_default_value);
	zend_string *property_key_name = zend_string_init("key", sizeof("key") - 1, 1);
	zend_declare_typed_property(class_entry, property_key_name, &property_key_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_key_name);

	zval property_timeout_default_value;
	ZVAL_UNDEF(&property_timeout_default_value);
	zend_string *property_timeout_name = zend_string_init("timeout", sizeof("timeout") - 1, 1);
	zend_declare_typed_property(class_entry, property_timeout_name, &property_timeout_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_timeout_name);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_Store(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "Store", class_Airlock_Store_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_Lease(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "Lease", class_Airlock_Lease_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "adopt", sizeof("adopt") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "adopt", sizeof("adopt") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_Bulkhead(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "Bulkhead", class_Airlock_Bulkhead_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 2, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_Seal(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "Seal", class_Airlock_Seal_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_ReleasableSeal(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "ReleasableSeal", class_Airlock_ReleasableSeal_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_RefreshableSeal(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "RefreshableSeal", class_Airlock_RefreshableSeal_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_LockingSeal(zend_class_entry *class_entry_Airlock_Seal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "LockingSeal", class_Airlock_LockingSeal_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Airlock_Seal);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_RateLimitingSeal(zend_class_entry *class_entry_Airlock_Seal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "RateLimitingSeal", class_Airlock_RateLimitingSeal_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Airlock_Seal);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_SealToken(zend_class_entry *class_entry_Stringable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "SealToken", class_Airlock_SealToken_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Stringable);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "parse", sizeof("parse") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_LockSeal(zend_class_entry *class_entry_Airlock_LockingSeal, zend_class_entry *class_entry_Airlock_ReleasableSeal, zend_class_entry *class_entry_Airlock_RefreshableSeal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "LockSeal", class_Airlock_LockSeal_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 3, class_entry_Airlock_LockingSeal, class_entry_Airlock_ReleasableSeal, class_entry_Airlock_RefreshableSeal);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 2, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_SemaphoreSeal(zend_class_entry *class_entry_Airlock_LockingSeal, zend_class_entry *class_entry_Airlock_ReleasableSeal, zend_class_entry *class_entry_Airlock_RefreshableSeal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "SemaphoreSeal", class_Airlock_SemaphoreSeal_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 3, class_entry_Airlock_LockingSeal, class_entry_Airlock_ReleasableSeal, class_entry_Airlock_RefreshableSeal);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 4, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_RateLimiterSeal(zend_class_entry *class_entry_Airlock_RateLimitingSeal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "RateLimiterSeal", class_Airlock_RateLimiterSeal_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 1, class_entry_Airlock_RateLimitingSeal);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 2, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_CooldownSeal(zend_class_entry *class_entry_Airlock_RateLimitingSeal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "CooldownSeal", class_Airlock_CooldownSeal_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 1, class_entry_Airlock_RateLimitingSeal);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 2, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_CompositeSeal(zend_class_entry *class_entry_Airlock_Seal, zend_class_entry *class_entry_Airlock_ReleasableSeal)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "CompositeSeal", class_Airlock_CompositeSeal_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 2, class_entry_Airlock_Seal, class_entry_Airlock_ReleasableSeal);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_StorageKey(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "StorageKey", class_Airlock_StorageKey_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	zval property_botId_default_value;
	ZVAL_UNDEF(&property_botId_default_value);
	zend_string *property_botId_name = zend_string_init("botId", sizeof("botId") - 1, 1);
	zend_declare_typed_property(class_entry, property_botId_name, &property_botId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_botId_name);

	zval property_chatId_default_value;
	ZVAL_UNDEF(&property_chatId_default_value);
	zend_string *property_chatId_name = zend_string_init("chatId", sizeof("chatId") - 1, 1);
	zend_declare_typed_property(class_entry, property_chatId_name, &property_chatId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_chatId_name);

	zval property_userId_default_value;
	ZVAL_UNDEF(&property_userId_default_value);
	zend_string *property_userId_name = zend_string_init("userId", sizeof("userId") - 1, 1);
	zend_declare_typed_property(class_entry, property_userId_name, &property_userId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_userId_name);

	zval property_threadId_default_value;
	ZVAL_UNDEF(&property_threadId_default_value);
	zend_string *property_threadId_name = zend_string_init("threadId", sizeof("threadId") - 1, 1);
	zend_declare_typed_property(class_entry, property_threadId_name, &property_threadId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_threadId_name);

	zval property_businessConnectionId_default_value;
	ZVAL_UNDEF(&property_businessConnectionId_default_value);
	zend_string *property_businessConnectionId_name = zend_string_init("businessConnectionId", sizeof("businessConnectionId") - 1, 1);
	zend_declare_typed_property(class_entry, property_businessConnectionId_name, &property_businessConnectionId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_businessConnectionId_name);

	zval property_destiny_default_value;
	ZVAL_UNDEF(&property_destiny_default_value);
	zend_string *property_destiny_name = zend_string_init("destiny", sizeof("destiny") - 1, 1);
	zend_declare_typed_property(class_entry, property_destiny_name, &property_destiny_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_destiny_name);

	return class_entry;
}

static zend_class_entry *register_class_Airlock_EventIsolation(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Airlock", "EventIsolation", class_Airlock_EventIsolation_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

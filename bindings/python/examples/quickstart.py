# A bulkhead around a slow dependency.
# expect: 17 rows
# expect: late, retry after
# [quickstart]
import airlock

store = airlock.open("memory:")  # "shm:" for the processes of a host, "redis://..." for a fleet.
erp = airlock.Bulkhead(store, "legacy-erp", limit=2, ttl=10.0, max_wait=0.2)

with erp:  # Waits up to max_wait for a slot. It is released at the end of the block.
    rows = 17  # For example a slow query.
print(rows, "rows")

with erp.acquire(), erp.acquire() as lease:
    assert lease.valid
    try:
        erp.call(print, "not reached")
    except airlock.Refused as refused:
        print(f"{refused.reason}, retry after {refused.retry_after:.0f} s")
# [/quickstart]

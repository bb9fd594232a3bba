# A lease that another process takes up.
# expect: done by another
# [handover]
import airlock

store = airlock.open("memory:")
export = airlock.Lock(store, "export")

token = export.acquire().detach()  # Now it belongs to whoever has the token: keep it out of logs.

with airlock.adopt(store, token, ttl=30.0) as lease:  # For example in a worker that a queue gave the token to.
    print("done by another:", lease.valid)
# [/handover]

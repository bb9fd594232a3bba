# How often, and how many at once.
# expect: True False
# expect: late
# expect: slot and rate
# [rates]
import airlock

store = airlock.open("memory:")
api = airlock.RateLimiter(store, "api", "2/1m", "1000/1h")
print(api.try_acquire(cost=2) is not None, api.try_acquire() is not None)  # Never waits.
try:
    api.acquire(timeout=0.01)  # Waits for its turn.
except airlock.Refused as refused:
    print(refused.reason)

site = airlock.Semaphore(store, "site", limit=20)
both = airlock.Composite(site, airlock.RateLimiter(store, "vendor", "100/s"))
with both.acquire():  # Both let in, or nothing is taken.
    print("slot and rate")
# [/rates]

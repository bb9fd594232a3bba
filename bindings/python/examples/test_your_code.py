# How code that uses airlock is tested: a memory store of its own, and holders that the test plays.
# expect: busy
# expect: exported
# expect: try later
# [test]
import airlock


def export(store: airlock.Store) -> str:
    lock = airlock.Lock(store, "export", max_wait=0.0)
    try:
        with lock:
            return "exported"
    except airlock.Refused:
        return "busy"
    except airlock.StoreError:
        return "try later"


store = airlock.open("memory:")  # Another store for each test: they share nothing.
with airlock.Lock(store, "export"):  # Somebody else exports.
    print(export(store))
print(export(store))
store.close()  # Every question fails from now on, as when a server is down.
print(export(store))
# [/test]

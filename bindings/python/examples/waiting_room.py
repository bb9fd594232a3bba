# Visitors of a web shop: no thread and no connection while they wait.
# expect: ann is in
# expect: bob is number 1
# expect: bob is in
# [room]
import airlock

room = airlock.WaitingRoom(airlock.open("memory:"), "shop", limit=1, ttl=120.0)


def visit(session: str) -> airlock.Admitted | airlock.Queued:
    state = room.admit(session)  # On every request of the visitor.
    if isinstance(state, airlock.Queued):
        print(session, "is number", state.position, "of", state.waiting)
    else:
        print(session, "is in")
    return state


ann = visit("ann")
visit("bob")
assert isinstance(ann, airlock.Admitted)
room.release(ann.token)  # Checked out.
visit("bob")
# [/room]

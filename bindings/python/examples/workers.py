# Processes share a store by its name. A worker that is killed frees its slot.
# expect: 3 workers, one at a time: 300
import multiprocessing
import pathlib
import sys
import tempfile

import airlock


# [workers]
def work(uri: str, counter: pathlib.Path) -> None:
    ledger = airlock.Lock(airlock.open(uri), "ledger")
    for _ in range(100):
        with ledger as lease:
            if not lease.valid:  # Check before what must not overlap, and hand lease.fence to what can refuse older ones.
                sys.exit("lost the lock")
            counter.write_text(str(int(counter.read_text()) + 1))
# [/workers]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        total = pathlib.Path(folder, "counter")
        total.write_text("0")
        workers = [multiprocessing.Process(target=work, args=(f"shm:workers?dir={folder}/store", total)) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print("3 workers, one at a time:", total.read_text())

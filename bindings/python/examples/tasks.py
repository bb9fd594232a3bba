# Thousands of tasks wait without a thread for each.
# expect: 100 pages, 5 at once
# expect: gave up after \d+\.\d\d s
# [tasks]
import asyncio

import airlock

vendor = airlock.Semaphore(airlock.open("memory:"), "vendor-api", limit=5)
inside = most = 0


@vendor  # Decorates functions and coroutine functions.
async def fetch(page: int) -> int:
    global inside, most
    inside += 1
    most = max(most, inside)
    await asyncio.sleep(0.001)
    inside -= 1
    return page


async def main() -> None:
    pages = await asyncio.gather(*[fetch(page) for page in range(100)])
    print(len(pages), "pages,", most, "at once")

    async with vendor.acquire_async(weight=5):  # All of it, for something large.
        try:
            async with vendor.acquire_async(timeout=0.05):
                pass
        except airlock.Refused as refused:
            print(f"gave up after {refused.waited:.2f} s")


asyncio.run(main())
# [/tasks]

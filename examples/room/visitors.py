"""Simulated visitors of a site with a waiting room: they keep cookies, wait as browsers do, look at pages, and leave or do not."""

import asyncio
import html
import json
import random
import re


class Page:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def is_room(self):
        return 'data-stream="' in self.body

    def find(self, pattern):
        return html.unescape(re.search(pattern, self.body).group(1))


class Browser:
    """One cookie jar. It speaks HTTP/1.0, in which a body ends with its connection."""

    def __init__(self, port):
        self.port, self.cookies = port, {}

    async def open(self, path, accept):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        fields = {"Host": "localhost", "Accept": accept}
        if self.cookies:
            fields["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        writer.write("".join([f"GET {path} HTTP/1.0\r\n", *(f"{name}: {value}\r\n" for name, value in fields.items()), "\r\n"]).encode())
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if "set-cookie" in fields:
            name, _, value = fields["set-cookie"].split(";")[0].partition("=")
            self.cookies[name] = value
        return int(status.split(" ")[1]), fields, reader, writer

    async def get(self, path, accept="text/html"):
        """Follows redirections."""
        for _ in range(8):
            status, fields, reader, writer = await self.open(path, accept)
            try:
                body = (await reader.read()).decode()
            finally:
                writer.close()
            if status != 303:
                break
            path = fields["location"]
        return Page(status, fields, body)

    async def events(self, path):
        """The data of each event, until the stream ends."""
        _, _, reader, writer = await self.open(path, "text/event-stream")
        try:
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            writer.close()


async def wait_by_stream(browser, page):
    """As the page does with JavaScript."""
    events = browser.events(page.find('data-stream="([^"]+)"'))
    try:
        async for standing in events:
            if standing["state"] == "admitted":
                break
    finally:
        await events.aclose()
    return await browser.get(page.find('data-next="([^"]+)"'))


async def wait_by_polling(browser, page):
    """As the page does where streams are held back."""
    while True:
        answer = await browser.get(page.find('data-status="([^"]+)"'), "application/json")
        if answer.status != 200 or json.loads(answer.body)["state"] == "admitted":
            return await browser.get(page.find('data-next="([^"]+)"'))
        await asyncio.sleep(random.uniform(2, 4))


async def wait_by_reloading(browser, page):
    """As a browser does without JavaScript."""
    while page.is_room:
        await asyncio.sleep(float(page.find('http-equiv="refresh" content="([0-9]+);')))
        page = await browser.get(page.find('http-equiv="refresh" content="[^"]*url=([^"]+)"'))
    return page


class Visitors:
    """They come again and again, with a new cookie each time."""

    def __init__(self, port, count):
        self.port, self.count, self.tasks = port, count, []
        self.failures = 0  # Answers that no visitor should see.

    def start(self):
        self.tasks = [asyncio.create_task(self.come_again_and_again()) for _ in range(self.count)]

    async def close(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def come_again_and_again(self):
        while True:
            await asyncio.sleep(random.uniform(0, 2))
            try:
                await self.visit(Browser(self.port))
            except (OSError, EOFError):  # A proxy that does not answer.
                self.failures += 1
                await asyncio.sleep(1)

    async def visit(self, browser):
        page = await browser.get("/")
        if page.is_room and random.random() < 0.1:
            page = await self.lose_patience(browser, page)
        wait = random.choices((wait_by_stream, wait_by_polling, wait_by_reloading), (6, 2, 2))[0]
        while page and page.is_room:
            page = await wait(browser, page)
        if page:
            await self.look_around(browser, page)

    async def lose_patience(self, browser, page):
        """Closes the page after a while. Half of these visitors return to their place, the others (None) do not."""
        try:
            await asyncio.wait_for(wait_by_stream(browser, page), random.uniform(1, 10))
        except asyncio.TimeoutError:
            pass
        if random.random() < 0.5:
            return None
        await asyncio.sleep(random.uniform(0, 3))
        return await browser.get("/")

    async def look_around(self, browser, page):
        for _ in range(random.randint(1, 4)):
            self.failures += page.status != 200
            await asyncio.sleep(random.uniform(0, 0.5))
            page = await browser.get("/")
            if page.is_room:
                return
        if random.random() < 0.95:  # The others only close the page: their sessions end by themselves.
            await browser.get("/logout")

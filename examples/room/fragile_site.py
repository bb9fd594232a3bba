"""A site that bears a number of requests at once. With more than that inside it falls over: it is slow, and answers 500."""

import asyncio

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Harbour Tickets</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 18px/1.5 system-ui, sans-serif; max-width: 32em; margin: 4em auto; padding: 0 1em }}</style>
<h1>{headline}</h1><p>{text}</p><p><a href="/">Another page</a> · <a href="/logout">Leave</a></p></html>
"""


class Site:
    def __init__(self, bears, seconds_per_page=0.7):
        self.bears, self.seconds_per_page = bears, seconds_per_page
        self.inside = self.pages = self.errors = 0
        self.tasks = set()

    async def start(self):
        """At a free port of 127.0.0.1, which is then in `port`."""
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=4096)
        self.port = self.server.sockets[0].getsockname()[1]

    async def close(self):
        self.server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks)

    async def serve(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                status, body = await self.answer(head.split(b" ", 2)[1].decode("latin-1"))
                data = body.encode()
                writer.write(f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"
                             f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # The proxy, or the site, ends.
        finally:
            writer.close()

    async def answer(self, path):
        if path == "/logout":
            return "200 OK", PAGE.format(headline="Goodbye", text="The next visitor is let in.")
        if path != "/":
            return "404 Not Found", ""
        self.inside += 1
        try:
            return await self.page()
        finally:
            self.inside -= 1

    async def page(self):
        if self.inside > self.bears:
            self.errors += 1
            await asyncio.sleep(4 * self.seconds_per_page)
            return "500 Internal Server Error", PAGE.format(headline="Error 500", text="The site has fallen over.")
        await asyncio.sleep(self.seconds_per_page)
        self.pages += 1
        return "200 OK", PAGE.format(headline="You are in", text=f"{self.inside} pages are being made; this site bears {self.bears} at once.")

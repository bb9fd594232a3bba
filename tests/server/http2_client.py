"""A client that writes HTTP/2 frames as the test says, also such as no library would."""

import struct

from server_case import Client

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
PROTOCOL_ERROR, ENHANCE_YOUR_CALM = 1, 11
RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def number(value, bits, first=0):
    """As HPACK writes it, into what is left of a byte."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes(out + [value])


def headers(*fields):
    """Each by its name and value, in no table."""
    text = b""
    for name, value in fields:
        text += b"\0" + number(len(name), 7) + name.encode() + number(len(value), 7) + value.encode("latin-1")
    return text


def head(path=RATE_LIMIT, *more, method="POST", content_type="application/grpc"):
    return headers((":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost"),
                   ("content-type", content_type), ("te", "trailers"), *more)


def message(text):
    return struct.pack(">BI", 0, len(text)) + text


class Http2Client(Client):
    def __init__(self, where):
        super().__init__(where)
        self.next_stream = 1
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS))

    def begin(self, block=None, flags=END_HEADERS):
        """A new stream."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.send(frame(HEADERS, flags, stream, head() if block is None else block))
        return stream

    def call(self, body, *fields, **options):
        """What comes back for one call: the bytes of the heads, in which nothing is compressed away, and the messages."""
        stream = self.begin(head(*fields, **options) if fields else head(**options))
        self.send(frame(DATA, END_STREAM, stream, body))
        return self.read_answer_of(stream)

    def read_frame(self):
        while len(self.unread) < 9:
            if not self.read_some():
                return None
        size = int.from_bytes(self.unread[:3], "big")
        while len(self.unread) < 9 + size:
            if not self.read_some():
                return None
        kind, flags, stream = struct.unpack(">BBI", self.unread[3:9])
        payload, self.unread = self.unread[9:9 + size], self.unread[9 + size:]
        return kind, flags, stream, payload

    def read_answer_of(self, stream):
        heads, body = [], b""
        while True:
            read = self.read_frame()
            if read is None:
                raise EOFError("closed before the answer")
            kind, flags, of, payload = read
            if of == stream and kind == HEADERS:
                heads.append(payload)
            if of == stream and kind == DATA:
                body += payload
            if of == stream and kind == RST_STREAM or of == stream and flags & END_STREAM and kind in (DATA, HEADERS):
                return heads, body

    def read_to_the_end(self):
        """The error of the last GOAWAY, once the server has closed the connection."""
        error = None
        while read := self.read_frame():
            if read[0] == GOAWAY:
                error = struct.unpack(">I", read[3][4:8])[0]
        return error

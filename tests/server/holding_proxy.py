"""A proxy in front of a Redis server that can hold back what is sent to it."""

import re
import socket
import threading


class HoldingProxy:
    """Forwards a Unix socket. After hold(text), what contains it, and all that follows on that connection, is kept until
    let_go()."""

    def __init__(self, path, target):
        self.target = target
        self.scripts = []  # The digests that were sent to be run.
        self.changed = threading.Condition()
        self.held_text = None
        self.is_holding = False
        self.is_closed = False
        self.sockets = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            self.sockets += [client, server]
            try:
                server.connect(self.target)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.forward, args=(client, server, self.inspect), daemon=True).start()
            threading.Thread(target=self.forward, args=(server, client, lambda _: None), daemon=True).start()

    @staticmethod
    def forward(source, target, inspect):
        try:
            while data := source.recv(65536):
                inspect(data)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def inspect(self, data):
        with self.changed:
            self.scripts += re.findall(rb"[0-9a-f]{40}", data)
            if self.held_text is None or self.held_text not in data:
                return
            self.is_holding = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.held_text is None or self.is_closed)

    def hold(self, text):
        with self.changed:
            self.held_text = text

    def await_held(self, seconds):
        """Whether something is held."""
        with self.changed:
            return self.changed.wait_for(lambda: self.is_holding, seconds)

    def let_go(self):
        with self.changed:
            self.held_text, self.is_holding = None, False
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()
        for each in [self.listener, *self.sockets]:
            each.close()

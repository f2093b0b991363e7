"""A proxy in front of PostgreSQL that can pass nothing on, drop connections, or refuse to serve."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum


class Mode(Enum):
    """`SILENT` accepts connections and passes nothing on; `GONE` closes them at once."""

    PASSING = "passing"
    SILENT = "silent"
    GONE = "gone"


class Proxy:
    """Passes bytes between TCP clients and a Unix socket, as its mode allows."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.mode = Mode.PASSING
        self._passing = threading.Event()
        self._passing.set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def become(self, mode: Mode) -> None:
        self.mode = mode
        if mode is Mode.SILENT:
            self._passing.clear()
        else:
            self._passing.set()
        if mode is Mode.GONE:
            self.drop()

    def drop(self) -> None:
        """Close all connections, as a server that is stopped does."""
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()

    def close(self) -> None:
        self._passing.set()
        self._listener.close()
        self.drop()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        self._passing.wait()
        if self.mode is Mode.GONE:
            client.close()
            return
        with suppress(OSError):
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            self._open.append(server)
            threading.Thread(target=self._pass_on, args=(server, client), daemon=True).start()
            self._pass_on(client, server)

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                self._passing.wait()
                sink.sendall(piece)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()

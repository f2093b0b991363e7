"""An SMTP server that takes connections and says nothing, until it is told to be one."""

import socketserver
import threading
from collections import Counter
from typing import Self


class _Session(socketserver.StreamRequestHandler):
    """One connection: silent while the server hangs, else as much SMTP as a sender needs."""

    server: "MailServer"

    def handle(self) -> None:
        if self.server.hangs.is_set():
            self.server.held += 1
            self.server.ending.wait(30)
            return
        self._say(b"220 ready")
        while line := self.rfile.readline():
            command = line.strip().upper()
            if command.startswith(b"RCPT TO"):
                self.server.received[line.decode().split("<")[1].split(">")[0]] += 1
            if command == b"DATA":
                self._say(b"354 go on")
                while self.rfile.readline().strip() != b".":
                    pass
            self._say(b"250 ok")
            if command == b"QUIT":
                return

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")


class MailServer(socketserver.ThreadingTCPServer):
    """`received` counts mails by their recipient, `held` the connections that were kept waiting."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.hangs, self.ending = threading.Event(), threading.Event()
        self.received: Counter[str] = Counter()
        self.held = 0
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    def handle_error(self, *_: object) -> None:
        """A sender that has gone is no fault of ours."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self.shutdown()
        self.server_close()

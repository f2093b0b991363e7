"""An SMTP server on loopback that speaks as a test tells it to, in the clear, with STARTTLS or with TLS."""

import base64
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Self

import trustme

from tests.waiting import until

NAME = "localhost"
USER, PASSWORD = "bright", "s3cret of the server"
OK = "250 ok"
# Longer than anybody may wait for its answer.
HELD_SECONDS = 600


class SmtpServer:
    """`answers` replaces what it says to a verb (`RCPT`: "550 no such user"); `silent_at` is a verb it never answers,
    `delay_at_content` how many seconds it thinks about a content.

    `messages` are what it took, with the envelope's recipient; `verbs` all that it was told, `most` the number of
    conversations at once.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, at_once: bool = False) -> None:
        self.tls, self.at_once = tls, at_once
        self.answers: dict[str, str] = {}
        self.silent_at, self.delay_at_content = "", 0.0
        self.messages: list[tuple[str, str, EmailMessage]] = []
        self.verbs: list[str] = []
        self.now = self.most = 0
        self.ending, self.held, self.hanging_up = threading.Event(), threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(60)

    def hang_up(self) -> None:
        """End the conversation in which it is silent; it is silent in the next one, too."""
        self.hanging_up.set()

    @property
    def recipients(self) -> list[str]:
        return [recipient for _, recipient, _ in self.messages]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=[connection], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(HELD_SECONDS)
        with suppress(OSError), connection, ExitStack() as counted:
            self._count(1)
            counted.callback(self._count, -1)
            if self.tls and self.at_once:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                _Session(self, connection, counted.close).run()

    def _count(self, step: int) -> None:
        with self._lock:
            self.now += step
            self.most = max(self.most, self.now)


class _Session:
    """A conversation. It counts as ended by `end` before the client can know that it has ended and begin the next."""

    def __init__(self, server: SmtpServer, connection: socket.socket, end: Callable[[], None]) -> None:
        self.server, self.connection, self.end = server, connection, end
        self.lines = connection.makefile("rb")
        self.sender = self.recipient = ""

    def run(self) -> None:
        try:
            if not self._say(self.server.answers.get("CONNECT", "220 ready"), "CONNECT"):
                return
            while line := self.lines.readline():
                verb = line[:4].upper().decode("ascii", "replace").strip()
                self.server.verbs.append(verb)
                if not self._answer(verb, line.decode("utf-8", "replace")):
                    return
        finally:
            self.end()
            self.lines.close()
            self.connection.close()

    def _hold(self) -> None:
        """Say nothing until the test has the server hang up or end."""
        self.server.held.set()
        until(lambda: self.server.ending.is_set() or self.server.hanging_up.is_set(), HELD_SECONDS, what="the test")
        self.server.hanging_up.clear()

    def _answer(self, verb: str, line: str) -> bool:
        if verb == self.server.silent_at:
            self._hold()
            return False
        told = self.server.answers.get(verb)
        if verb == "EHLO":
            return self._say(self._extensions())
        if verb == "STAR" and not told:
            return self._start_tls()
        if verb == "AUTH" and not told:
            given = base64.b64decode(line.split()[-1]).decode().split("\0")
            return self._say("235 welcome" if given[-2:] == [USER, PASSWORD] else "535 5.7.8 bad credentials")
        if verb == "DATA" and not told:
            return self._take()
        self._keep_address(verb, line)
        if verb == "QUIT":
            self.end()
        self._say(told or OK)
        return verb != "QUIT"

    def _keep_address(self, verb: str, line: str) -> None:
        if verb == "MAIL":
            self.sender = line.split("<")[1].split(">")[0]
        if verb == "RCPT":
            self.recipient = line.split("<")[1].split(">")[0]

    def _extensions(self) -> str:
        is_open = isinstance(self.connection, ssl.SSLSocket)
        more = ["AUTH PLAIN"] if is_open or not self.server.tls else ["STARTTLS"]
        return "\r\n".join(["250-hello", *(f"250-{one}" for one in more[:-1]), f"250 {more[-1]}"])

    def _start_tls(self) -> bool:
        assert self.server.tls
        self._say("220 go on")
        self.lines.close()
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.lines = self.connection.makefile("rb")
        return True

    def _take(self) -> bool:
        self._say("354 go on")
        content = b""
        while (line := self.lines.readline()) and line != b".\r\n":
            content += line.removeprefix(b".") if line.startswith(b"..") else line
        self.server.ending.wait(self.server.delay_at_content)
        said = self.server.answers.get("CONTENT", OK)
        if said.startswith("2"):
            message = message_from_bytes(content, policy=policy.default)
            assert isinstance(message, EmailMessage)
            self.server.messages.append((self.sender, self.recipient, message))
        return self._say(said)

    def _say(self, text: str, verb: str = "") -> bool:
        if verb and verb == self.server.silent_at:
            self._hold()
            return False
        self.connection.sendall(f"{text}\r\n".encode())
        return True


class Authority:
    """An authority that `config.smtp` trusts while a test runs, by the variable that OpenSSL reads."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.file = folder / "authority.pem"
        self.ca.cert_pem.write_to_path(str(self.file))

    def context(self, name: str = NAME) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(name).configure_cert(context)
        return context


@contextmanager
def smtp_server(authority: Authority | None = None, *, at_once: bool = False, name: str = NAME) -> Iterator[SmtpServer]:
    with SmtpServer(tls=authority.context(name) if authority else None, at_once=at_once) as server:
        yield server

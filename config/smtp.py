"""Sends e-mail within a bounded time, however slow the SMTP server is, and records how far it came."""

import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from enum import StrEnum
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, BinaryIO

import certifi
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends import console, smtp

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# The time from the connection to the server's last reply. EMAIL_TIMEOUT limits each silence within it.
CONVERSATION_SECONDS = 30.0
# The limits of one reply. The library itself limits only each of its lines.
REPLY_LINES, REPLY_BYTES = 100, 64 * 1024


class Step(StrEnum):
    """The steps of sending one e-mail, in order. STARTTLS comes after the greeting, other TLS before it."""

    LOOKUP = "lookup"
    CONNECT = "connect"
    GREETING = "greeting"
    TLS = "tls"
    SIGN_IN = "sign_in"
    SENDER = "sender"
    RECIPIENT = "recipient"
    CONTENT = "content"


class SendProgress:
    """How far one e-mail has come, and its deadline.

    If `addresses` are given, only these are connected to.
    """

    def __init__(self, *, seconds: float, addresses: Sequence[str] = ()) -> None:
        self.addresses = addresses
        self.steps: list[Step] = []
        self._until = time.monotonic() + seconds

    def begin(self, step: Step) -> None:
        """Record a step. A step that is taken several times counts once."""
        if step not in self.steps:
            self.steps.append(step)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._until - time.monotonic())


class ReplyReader:
    """Reads a server's replies line by line, up to a size, so that no server can fill this process's memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lines = self._bytes = 0

    def begin_reply(self) -> None:
        self._lines = self._bytes = 0

    def readline(self, size: int) -> bytes:
        line = self._file.readline(size)
        self._lines += 1
        self._bytes += len(line)
        if self._lines > REPLY_LINES or self._bytes > REPLY_BYTES:
            raise OSError("The reply is too long.")
        return line

    def close(self) -> None:
        self._file.close()


class BoundedSMTP(smtplib.SMTP):
    """An SMTP client with bounded replies. Its connection is shut down from outside when its time is over.

    Whatever a server answers, the client raises an `OSError` at worst, as the library does for every failure.
    """

    _ending: threading.Timer | None = None
    _duplicate: socket.socket | None = None
    _after_connecting = Step.GREETING

    def __init__(self, *arguments: Any, conversation: SendProgress, **options: Any) -> None:
        self.conversation = conversation
        super().__init__(*arguments, **options)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        self.conversation.begin(Step.CONNECT)
        connected = self._connect(host, port, timeout)
        # The duplicate stays valid when TLS takes over the original.
        self._duplicate = connected.dup()
        self._ending = threading.Timer(self.conversation.seconds_left, _shut_down, [self._duplicate])
        self._ending.daemon = True
        self._ending.start()
        self.conversation.begin(self._after_connecting)
        return connected

    def _connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect only to the approved addresses, one after another. TLS still checks the certificate for the name."""
        if not self.conversation.addresses:
            found: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]  # smtplib's own
            return found
        fault: OSError = TimeoutError("timed out")
        for address in self.conversation.addresses:
            seconds = min(timeout, self.conversation.seconds_left)
            if seconds <= 0:
                break
            try:
                return socket.create_connection((address, port), seconds)
            except OSError as error:
                fault = error
        raise fault

    def starttls(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        self.conversation.begin(Step.TLS)
        return super().starttls(*arguments, **options)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = ReplyReader(self.sock.makefile("rb"))
        if isinstance(self.file, ReplyReader):
            self.file.begin_reply()
        return super().getreply()

    def login(self, user: str, password: str, *, initial_response_ok: bool = True) -> tuple[int, bytes]:
        self.conversation.begin(Step.SIGN_IN)
        try:
            return super().login(user, password, initial_response_ok=initial_response_ok)
        except UnicodeEncodeError as error:  # user name and password are sent in ASCII
            raise smtplib.SMTPNotSupportedError("The user name or the password is not in ASCII.") from error
        except ValueError as error:  # a challenge that is not in Base64
            raise smtplib.SMTPServerDisconnected("The server's answer cannot be read.") from error

    def mail(self, sender: str, options: Sequence[str] = ()) -> tuple[int, bytes]:
        self.conversation.begin(Step.SENDER)
        return super().mail(sender, options)

    def rcpt(self, recip: str, options: Sequence[str] = ()) -> tuple[int, bytes]:
        self.conversation.begin(Step.RECIPIENT)
        return super().rcpt(recip, options)

    def data(self, msg: "ReadableBuffer | str") -> tuple[int, bytes]:
        """Send the content, and wait until the deadline for the answer.

        A client that hangs up earlier does not know whether the server took the e-mail.
        """
        self.conversation.begin(Step.CONTENT)
        if self.sock is not None:
            self.sock.settimeout(max(self.conversation.seconds_left, 0.1))
        return super().data(msg)

    def close(self) -> None:
        super().close()
        if self._ending is not None and self._duplicate is not None:
            self._ending.cancel()
            self._duplicate.close()


def _shut_down(connected: socket.socket) -> None:
    with suppress(OSError), connected:
        connected.shutdown(socket.SHUT_RDWR)


class BoundedSMTPWithTLS(smtplib.SMTP_SSL, BoundedSMTP):
    """The same client for a connection that begins with TLS. `BoundedSMTP` opens the connection."""

    _after_connecting = Step.TLS

    def __init__(self, *arguments: Any, conversation: SendProgress, **options: Any) -> None:
        self.conversation = conversation
        super().__init__(*arguments, **options)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        try:
            connected: socket.socket = super()._get_socket(host, port, timeout)
        except OSError:
            self.close()
            raise
        self.conversation.begin(Step.GREETING)
        return connected


class EmailBackend(smtp.EmailBackend):
    """Django's backend over connections with a deadline. `conversation` says how far the current e-mail came."""

    def __init__(self, *arguments: Any, conversation: SendProgress | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._given = conversation
        self.conversation = conversation or SendProgress(seconds=CONVERSATION_SECONDS)

    @property
    def connection_class(self) -> Any:
        self.conversation = self._given or SendProgress(seconds=CONVERSATION_SECONDS)
        used = BoundedSMTPWithTLS if self.use_ssl else BoundedSMTP
        return partial(used, conversation=self.conversation)

    def close(self) -> None:
        """End the session and ignore faults. They change nothing about the e-mails that the server has taken."""
        with suppress(OSError):
            super().close()


class PinnedEmailBackend(EmailBackend):
    """The backend for a server that a tenant has named: always encrypted, with a certificate for that name."""

    @property
    def ssl_context(self) -> ssl.SSLContext:
        return tls_context()


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Return a context that trusts the host's authorities (`SSL_CERT_FILE` names others) and those of web clients."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class ConsoleBackend(console.EmailBackend):
    """Prints e-mails while you try the product out: only their text, which people read and copy links from."""

    def write_message(self, message: EmailMessage) -> None:
        text = copy(message)
        if isinstance(text, EmailMultiAlternatives):
            text.alternatives = []
        super().write_message(text)

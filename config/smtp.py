"""Sends e-mail within a bounded time, however slowly the SMTP server speaks."""

import smtplib
import socket
import threading
from contextlib import suppress
from typing import Any

from django.core.mail.backends import smtp

# From the connection to the server's last word. EMAIL_TIMEOUT bounds each silence within.
CONVERSATION_SECONDS = 30.0


class BoundedSMTP(smtplib.SMTP):
    """An SMTP client whose connection is shut down from outside when its time is over."""

    _ending: threading.Timer | None = None
    _duplicate: socket.socket | None = None

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connected: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]  # smtplib's own
        # It stays good when TLS takes the original over.
        self._duplicate = connected.dup()
        self._ending = threading.Timer(CONVERSATION_SECONDS, _shut_down, [self._duplicate])
        self._ending.daemon = True
        self._ending.start()
        return connected

    def close(self) -> None:
        super().close()
        if self._ending is not None and self._duplicate is not None:
            self._ending.cancel()
            self._duplicate.close()


def _shut_down(connected: socket.socket) -> None:
    with suppress(OSError), connected:
        connected.shutdown(socket.SHUT_RDWR)


class BoundedSMTPWithTLS(smtplib.SMTP_SSL, BoundedSMTP):
    """The same for a conversation that begins with TLS, whose connection the other class opens."""


class EmailBackend(smtp.EmailBackend):
    """Django's own, over connections that end in time."""

    @property
    def connection_class(self) -> Any:
        return BoundedSMTPWithTLS if self.use_ssl else BoundedSMTP

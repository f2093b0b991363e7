"""A slow SMTP server ends nobody's patience but its own."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.mail import EmailMultiAlternatives

from agency.models import Mail
from agency.services import queue_mail, send_next_mail
from config import smtp
from tests.factories import UserFactory
from tests.waiting import until

LIMIT_SECONDS = 1.0
# So long a server speaks on if nobody leaves it.
HELD_SECONDS = 90
GREETING = b"220 mail.example.com ready\r\n"
Speak = Callable[[socket.socket, threading.Event], bool]


def drip(connection: socket.socket, ending: threading.Event) -> bool:
    """A byte of an endless greeting every tenth of a second, so that no silence is long."""
    for _ in range(HELD_SECONDS * 10):
        if ending.wait(0.1):
            return True
        connection.sendall(b"2")
    return False


def hang(connection: socket.socket, ending: threading.Event) -> bool:
    connection.sendall(GREETING)
    return ending.wait(HELD_SECONDS)


class Server:
    """An SMTP server with one way of speaking; `was_outlasted` says that it came to an end before its client did."""

    def __init__(self, speak: Speak) -> None:
        self.ending = threading.Event()
        self.conversations, self.was_outlasted = 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(0.1)
        self.speak = speak
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        while not self.ending.is_set():
            try:
                connection, _ = self.listener.accept()
            except TimeoutError:
                continue
            self.conversations += 1
            with connection:
                try:
                    self.was_outlasted |= not self.speak(connection, self.ending)
                except OSError:
                    continue

    def close(self) -> None:
        self.ending.set()
        self.thread.join()
        self.listener.close()


Serve = Callable[[Speak], Server]


@pytest.fixture
def serve(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start a server of which the product sends its mail, for at most a second each."""
    started: list[Server] = []

    def start(speak: Speak) -> Server:
        started.append(Server(speak))
        settings.EMAIL_PORT = started[-1].listener.getsockname()[1]
        return started[-1]

    monkeypatch.setattr(smtp, "CONVERSATION_SECONDS", LIMIT_SECONDS)
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "config.smtp.EmailBackend", "127.0.0.1"
    settings.EMAIL_USE_TLS, settings.EMAIL_TIMEOUT = False, 3_600
    yield start
    for server in started:
        server.close()


@pytest.mark.django_db
@pytest.mark.parametrize("speak", [drip, hang])
def test_a_mail_to_a_server_that_hangs_or_drips_is_put_off(speak: Speak, serve: Serve) -> None:
    server = serve(speak)
    mail = queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=UserFactory.create(), context={})
    assert send_next_mail()
    until(lambda: server.conversations == 1, what="the conversation, which its client may have left before")
    assert not server.was_outlasted
    mail.refresh_from_db()
    assert (mail.sent_at, mail.attempts) == (None, 1)
    assert not send_next_mail()


@pytest.mark.django_db
@pytest.mark.parametrize("with_tls", [False, True])
def test_a_conversation_that_begins_with_tls_is_bounded_too(with_tls: bool, serve: Serve, settings: Any) -> None:
    server = serve(drip)
    settings.EMAIL_USE_SSL = with_tls
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=UserFactory.create(), context={})
    assert send_next_mail()
    until(lambda: server.conversations == 1, what="the conversation, which its client may have left before")
    assert not server.was_outlasted


def test_while_trying_out_the_text_alone_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    message = EmailMultiAlternatives("Hello", "A link:\n\nhttp://localhost/here\n", to=["ada@example.com"])
    message.attach_alternative("<p>A link</p>", "text/html")
    message.connection = smtp.ConsoleBackend()
    message.send()
    printed = capsys.readouterr().out
    assert "http://localhost/here\n" in printed
    assert "<p>" not in printed
    assert len(message.alternatives) == 1

"""A quick provider gets few calls at once, one that takes its time as many as wait."""

import threading
from collections.abc import Callable
from contextlib import closing

import pytest
from django.test import override_settings

from channelconnect.sending import loop
from channelconnect.sending.calls import BASE_CALLS, CALL_LIMITS, EXTRA_CALLS, CallsInFlight
from channelconnect.sending.channels import read_channels
from channelconnect.sending.claimer import MessageClaimer
from channelconnect.sending.loop import SenderLoop
from config.leases.connections import open_connection
from tests.channelconnect.sending.masses import Mass
from tests.config.http.receivers import Connection, Receiver
from tests.waiting import PATIENCE_SECONDS, until
from workspaces.subaccounts.models import Channel

MESSAGES, ANSWERED = 200, 10
# No call ends for want of an answer, however long each wait of the test takes.
CALL_SECONDS = 10 * round(PATIENCE_SECONDS)
TAKEN = b'{"messages":[{"id":"wamid.1"}]}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(TAKEN) + TAKEN


class HesitantProvider:
    """Answers as many calls as it is told to."""

    def __init__(self) -> None:
        self.answers = threading.Semaphore(0)

    def __call__(self, connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            connection.receiver.requests.append(request)
            self.answers.acquire()
            if connection.receiver.closing.is_set():
                return
            connection.send(ANSWER)


def go_on_until(calls: CallsInFlight, condition: Callable[[], bool]) -> None:
    """Look for answers until that holds. No look waits, so one that brings an answer found it at once."""

    def look() -> bool:
        calls.poll(0.0)
        return condition()

    until(look)


def test_more_than_a_few_calls_are_started_only_while_nobody_answers(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MessageClaimer, "longest_attempt_seconds", -3_600.0)  # nobody renews the run's claims here
    patient = CALL_LIMITS._replace(total_ms=CALL_SECONDS * 1_000, connect_ms=CALL_SECONDS * 1_000)
    monkeypatch.setattr(loop, "CALL_LIMITS", patient)
    provider, mass = HesitantProvider(), Mass([channel], MESSAGES)
    receiver = Receiver(provider)
    with override_settings(META_GRAPH_URL=f"http://127.0.0.1:{receiver.port}"):
        run = SenderLoop(sources=[mass], rates=None)
    calls = run.calls
    try:
        with closing(open_connection("test")) as own:
            run.claimer.on_connect(own)
            run.channels.take(read_channels(own, [channel.pk]))
            calls.add(mass.claim(own, run=run.number, rooms={channel.pk: MESSAGES}, batch=MESSAGES))
        assert calls.start_waiting()
        assert calls.in_flight == BASE_CALLS
        go_on_until(calls, lambda: len(receiver.requests) == BASE_CALLS)

        provider.answers.release(ANSWERED)
        go_on_until(calls, lambda: calls.finished == ANSWERED)
        calls.start_waiting()
        assert calls.in_flight == BASE_CALLS, "as answers are there, one for each"
        go_on_until(calls, lambda: len(receiver.requests) == BASE_CALLS + ANSWERED)

        go_on_until(calls, lambda: run.http.was_idle)
        calls.start_waiting()
        assert calls.in_flight == BASE_CALLS + EXTRA_CALLS
        go_on_until(calls, lambda: not calls.start_waiting())
        assert calls.in_flight == MESSAGES - ANSWERED
    finally:
        provider.answers.release(MESSAGES)
        calls.close()
        run.http.close()
        receiver.close()

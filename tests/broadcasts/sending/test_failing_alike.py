"""A broadcast whose messages fail one after the other in the same way pauses instead of failing with everybody."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import translation

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, FailureStreak
from broadcasts.sending.claims import pack_key
from broadcasts.sending.results import MOST_CONSECUTIVE_FAILURES, TOO_MANY_FAILURES_REASON, add_to_streaks, streaks_of
from channelconnect.providers.message_results import CallResult, Outcome, error_of
from channelconnect.providers.messages import OutgoingMessage
from channelconnect.providers.messages import Recipient as Address
from channelconnect.sending import loop
from channelconnect.sending.limits import PER_CHANNEL
from channelconnect.sending.sources import ClaimedMessage, MessageResult
from tests.broadcasts.sending.broadcasts import (
    TEMPLATE,
    counts,
    has_ended,
    rows_as_counts,
    wait_until_nobody_is_claimed,
    with_recipients,
)
from tests.channelconnect.sending.conftest import StartSender
from tests.waiting import until
from workspaces.subaccounts.models import Channel

MANY = 150


def failing_with(code: str) -> FrozenMessage:
    """A message that the provider refuses with this code, whoever gets it."""
    assert TEMPLATE.template
    body = {"type": "body", "parameters": [{"type": "text", "text": f"#{code} {{{{ contact.name }}}}"}]}
    return replace(TEMPLATE, template={**TEMPLATE.template, "components": [body]})


@pytest.mark.parametrize(("code", "rate"), [("132000", 70.0), ("100", 20.0)])
def test_a_template_that_was_changed_pauses_the_broadcast_which_says_why(
    channel: Channel, start_sender: StartSender, code: str, rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call begins while as many results wait to be recorded as a channel may have calls."""
    monkeypatch.setattr(loop, "MOST_UNRECORDED", PER_CHANNEL)
    broadcast = with_recipients(channel, MANY, failing_with(code))
    start_sender(rates={"whatsapp": rate})

    until(lambda: Broadcast.objects.filter(pk=broadcast.pk, status="paused").exists(), what="the pause")
    wait_until_nobody_is_claimed()

    assert Broadcast.objects.get(pk=broadcast.pk).paused_reason == TOO_MANY_FAILURES_REASON
    assert MOST_CONSECUTIVE_FAILURES <= counts(broadcast)["failed"] <= MOST_CONSECUTIVE_FAILURES + PER_CHANNEL * 2
    assert counts(broadcast) == rows_as_counts(broadcast)


def test_what_is_one_persons_fault_pauses_nothing(channel: Channel, start_sender: StartSender) -> None:
    """Nor do many of them: a list of numbers that do not exist is its author's affair."""
    broadcast = with_recipients(channel, 30, failing_with("131026"))
    start_sender()

    until(lambda: has_ended(broadcast), what="the end")
    assert counts(broadcast) == {"failed": 30}


def ends(broadcast: int, *codes: str, at: float = 0.0) -> list[MessageResult]:
    """Messages that ended so, one after the other; an empty code is one that was sent."""
    found = []
    for number, code in enumerate(codes):
        message = OutgoingMessage("", Address(), "template")
        row = ClaimedMessage("broadcasts", pack_key(broadcast, number), 1, 1, None, 0, datetime.now(UTC), message)
        outcome = (
            Outcome(CallResult.REFUSED, error=error_of(int(code))) if code else Outcome(CallResult.ACCEPTED, "wamid.1")
        )
        found.append(MessageResult(row, outcome, at + number))
    return found


def add(*batches: list[MessageResult]) -> list[int]:
    found: list[int] = []
    for batch in batches:
        with transaction.atomic(), connection.cursor() as cursor:
            found += add_to_streaks(cursor, streaks_of(batch))
    return found


FAILED: list[Any] = ["132000"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("batches", "is_enough"),
    [
        ([FAILED * 20], True),
        ([FAILED * 10, FAILED * 10], True),
        ([FAILED * 19], False),
        ([[*FAILED * 19, "", *FAILED * 19]], False),
        ([FAILED * 19, ["", *FAILED]], False),
        ([FAILED * 19, [*FAILED * 1, ""]], False),
        ([FAILED * 19, ["132012"]], False),
        ([FAILED * 10, ["131026", *FAILED * 10]], True),
        ([["", *FAILED * 20]], True),
    ],
)
def test_twenty_equal_failures_are_counted_over_all_senders(batches: list[list[str]], *, is_enough: bool) -> None:
    assert add(*(ends(7, *codes, at=100.0 * place) for place, codes in enumerate(batches))) == [7] * is_enough


@pytest.mark.django_db
def test_broadcasts_are_counted_apart() -> None:
    assert add(ends(7, *FAILED * 19) + ends(8, *FAILED * 19)) == []
    assert add(ends(8, *FAILED)) == [8]
    assert dict(FailureStreak.objects.values_list("broadcast_id", "number")) == {7: 19}


def test_the_reason_is_read_in_everybodys_language() -> None:
    for language in ("de", "es", "fr", "pt-br"):
        with translation.override(language):
            assert translation.gettext(TOO_MANY_FAILURES_REASON) != TOO_MANY_FAILURES_REASON

"""Those who are to be skipped hold up nobody who is to get a message."""

from contextlib import closing
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient
from broadcasts.services.counts import add_counts
from config.leases.connections import open_connection
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, has_ended, people, rows_as_counts
from tests.broadcasts.sending.test_allowance import Sending
from tests.channelconnect.sending.conftest import StartSender
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel

LATE = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, created_at)
SELECT %s, 1000000000 + n, %s, 0, 0, 'pending', now() FROM generate_series(1, %s) n
"""
TOO_LATE, IN_TIME, ROOM, MOST_CLAIMS = 1_500, 30, 7, 8


@pytest.fixture
def broadcast(channel: Channel) -> Broadcast:
    """One for which many come too late, and behind them some who do not."""
    broadcast = a_broadcast(channel)
    with connection.cursor() as cursor:
        cursor.execute(LATE, [broadcast.pk, now() - timedelta(hours=73), TOO_LATE])
    add_counts({broadcast.pk: {"pending": TOO_LATE}})
    add_recipients(broadcast, people(channel, IN_TIME))
    return broadcast


def test_many_who_are_skipped_take_few_claims(channel: Channel, broadcast: Broadcast) -> None:
    sending, claims = Sending(channel), 0
    with closing(open_connection("test")) as own:
        while not has_ended(broadcast):
            sending.finish(own, sending.claim(own, ROOM))
            claims += 1
    assert claims <= MOST_CLAIMS


def test_those_behind_many_who_are_skipped_get_it_once(
    meta: RunningSandbox, broadcast: Broadcast, start_sender: StartSender
) -> None:
    start_sender()

    until(partial(has_ended, broadcast))
    assert counts(broadcast) == rows_as_counts(broadcast) == {"skipped": TOO_LATE, "sent": IN_TIME}
    assert set(Recipient.objects.of(broadcast).filter(status="skipped").values_list("skip_reason", flat=True)) == {
        "too_late"
    }
    assert set(meta.ledger()["sent_by_opaque"].values()) == {1}

"""Those who are to be skipped hold up nobody who is to get a message."""

from datetime import timedelta
from functools import partial

from django.db import connection
from django.utils.timezone import now

from broadcasts.models import Recipient
from broadcasts.services.counts import add_counts
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, has_ended, people, rows_as_counts
from tests.channelconnect.sending.conftest import StartSender
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel

LATE = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, created_at)
SELECT %s, 1000000000 + n, %s, 0, 0, 'pending', now() FROM generate_series(1, %s) n
"""
TOO_LATE, IN_TIME, SECONDS = 1_500, 30, 7.0


def test_many_who_are_skipped_take_little_time_and_those_behind_them_get_it_once(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = a_broadcast(channel)
    with connection.cursor() as cursor:
        cursor.execute(LATE, [broadcast.pk, now() - timedelta(hours=73), TOO_LATE])
    add_counts({broadcast.pk: {"pending": TOO_LATE}})
    add_recipients(broadcast, people(channel, IN_TIME))

    start_sender()

    until(partial(has_ended, broadcast), SECONDS)
    assert counts(broadcast) == rows_as_counts(broadcast) == {"skipped": TOO_LATE, "sent": IN_TIME}
    assert set(Recipient.objects.of(broadcast).filter(status="skipped").values_list("skip_reason", flat=True)) == {
        "too_late"
    }
    assert set(meta.ledger()["sent_by_opaque"].values()) == {1}

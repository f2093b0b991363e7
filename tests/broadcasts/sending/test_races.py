"""Where PostgreSQL ends a transaction of a sender's for another's sake, its run does that once more and goes on."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from broadcasts.models import Recipient, Stage
from broadcasts.sending.source import BroadcastRecipients
from channelconnect.models import Allowance, SenderRun
from channelconnect.sending.sources import ClaimedMessage
from config.leases.connections import open_connection
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, people, rows_as_counts
from tests.broadcasts.sending.test_allowance import Sending, a_number
from tests.channelconnect.sending.conftest import StartSender
from tests.database.races import lost_once
from tests.waiting import until, wait_for_lock
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel

PORTFOLIOS = ("8001", "8002")


def _with_one_to_skip_first(channel: Channel) -> None:
    """A broadcast whose first recipient is skipped, so that its second one is looked at in another pass."""
    broadcast = a_broadcast(channel)
    skipped, wanted = people(channel, 2)
    add_recipients(broadcast, [skipped, wanted])
    Contact.objects.filter(pk=skipped.pk).update(marketing_opted_out_at=now())


def _claim(sending: Sending) -> list[ClaimedMessage]:
    try:
        with closing(open_connection("test")) as own:
            own.execute("SET deadlock_timeout = '100ms'")
            return sending.claim(own, room=1)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_two_claims_over_the_same_portfolios_never_wait_in_a_circle() -> None:
    """One comes to the first portfolio in its first pass, the other in its second."""
    for portfolio in PORTFOLIOS:
        Allowance.objects.create(key=f"portfolio:{portfolio}", used=0, reserved=0)
    senders = [Sending(*(a_number(limit=5, portfolio=portfolio) for portfolio in PORTFOLIOS)) for _ in range(2)]
    for sending, last in zip(senders, (1, 0), strict=True):
        _with_one_to_skip_first(sending.channels[last])
        add_recipients(a_broadcast(sending.channels[1 - last]), people(sending.channels[1 - last], 1))

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            Allowance.objects.select_for_update().get(key="portfolio:8001")
            claims = []
            for number, sending in enumerate(senders, start=1):
                claims.append(pool.submit(_claim, sending))
                wait_for_lock(number=number)
        claimed = [claim.result() for claim in claims]

    assert [len(found) for found in claimed] == [2, 2]
    assert set(Allowance.objects.values_list("used", flat=True)) == {2}


@pytest.mark.parametrize("state", ["40P01", "40001"])
@pytest.mark.parametrize(
    ("table", "when"),
    [
        ("broadcasts_recipient", "NEW.stage = 1"),
        ("broadcasts_recipient", "NEW.status = 'sent'"),
        ("channelconnect_allowance", "NEW.used > OLD.used"),
    ],
    ids=["claim", "record", "allowance"],
)
def test_a_sender_that_lost_a_race_goes_on_with_its_run(
    channel: Channel, start_sender: StartSender, table: str, when: str, state: str
) -> None:
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=1_000)
    broadcast = a_broadcast(channel)
    add_recipients(broadcast, people(channel, 5))
    with lost_once(table, when, state) as has_been_lost:
        sender = start_sender(sources=[BroadcastRecipients()])
        until(lambda: not Recipient.objects.exclude(stage=Stage.DONE).exists())
        assert has_been_lost()

    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 5}
    assert list(SenderRun.objects.values_list("number", "lost_at")) == [(sender.run.number, None)]
    assert not any(thread.had_fault for thread in (sender.run.claimer, sender.run.recorder))

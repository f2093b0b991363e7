"""A status of somebody whose row others change at that moment is written down all the same."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from broadcasts.models import Stage
from broadcasts.services import statuses
from broadcasts.services.link_clicks import count_clicks, record_clicks
from broadcasts.services.tracked_links import LinkToken
from channelconnect.inbox.reading import read_waiting
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, people, rows_as_counts
from tests.broadcasts.statuses.test_statuses import status, tell
from tests.channelconnect.inbox.notices import NUMBER
from tests.factories import ChannelFactory
from tests.waiting import wait_for_lock


@pytest.mark.django_db(transaction=True)
def test_it_is_not_missed_however_often_the_row_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statuses, "MOST_ATTEMPTS", 1)
    broadcast = a_broadcast(ChannelFactory.create(external_id=NUMBER))
    [recipient] = add_recipients(broadcast, people(broadcast.channel, 1), stage=Stage.CLAIMED, run=1)
    record_clicks([LinkToken(broadcast.pk, recipient.contact_id, 0)])

    def tell_in_a_thread() -> None:
        try:
            tell(status(recipient, "read"))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            count_clicks(now=now())
            told = pool.submit(tell_in_a_thread)
            wait_for_lock("transactionid")
        told.result()

    read_waiting()
    assert counts(broadcast) == rows_as_counts(broadcast) == {"read": 1, "clicked": 1}

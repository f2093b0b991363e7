"""A task whose transaction PostgreSQL ended for another's sake does it once more, and nobody hears of it."""

import pytest
from django.utils.timezone import now

from broadcasts.services.link_clicks import record_clicks
from broadcasts.services.tracked_links import LinkToken
from broadcasts.tasks import count_clicks
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, people
from tests.database.races import lost_once
from tests.factories import ChannelFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("state", ["40P01", "40001"])
def test_it_is_done_once_more(state: str) -> None:
    broadcast = a_broadcast(ChannelFactory.create(), started_at=now())
    [recipient] = add_recipients(broadcast, people(broadcast.channel, 1))
    record_clicks([LinkToken(broadcast.pk, recipient.contact_id, 0)])

    with lost_once("broadcasts_recipient", "NEW.clicked_at IS NOT NULL", state) as has_been_lost:
        count_clicks()
        assert has_been_lost()

    assert counts(broadcast) == {"pending": 1, "clicked": 1}

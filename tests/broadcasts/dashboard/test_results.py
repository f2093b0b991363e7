"""The results on a broadcast's page: a funnel, averages of earlier broadcasts, replies and opt-outs."""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from broadcasts.models import Broadcast
from broadcasts.services.costs import Billed, add_billed
from broadcasts.services.counts import add_counts
from broadcasts.services.results import MOST_COMPARED, funnel_of, results_of
from tests.agency.console.browsers import text
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.factories import ChannelFactory, ContactFactory
from tests.workspaces.conversations.facts import person, receive, received
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.conversations.models import Conversation, Message
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db


@pytest.fixture
def channel() -> Channel:
    made: Channel = ChannelFactory.create()
    return made


def a_sent_broadcast(channel: Channel, days_ago: int, **counts: int) -> Broadcast:
    then = now() - timedelta(days=days_ago)
    made = a_broadcast(channel=channel, status="sent", completed_at=then, created_at=then, started_at=then)
    add_counts({made.pk: counts})
    return made


@pytest.mark.parametrize(
    ("counts", "funnel"),
    [
        ({"pending": 9, "sent": 1, "delivered": 2, "read": 3, "failed": 7, "clicked": 1}, [6, 5, 3, 1]),
        # Two who clicked have switched off that others see what they have read; one of them is reported as sent.
        ({"sent": 1, "delivered": 1, "clicked": 2}, [2, 2, 2, 2]),
        ({}, [0, 0, 0, 0]),
    ],
)
def test_no_step_of_the_funnel_is_above_the_one_before(counts: dict[str, int], funnel: list[int]) -> None:
    names = ("pending", "sent", "delivered", "read", "failed", "skipped", "clicked")
    assert funnel_of(dict.fromkeys(names, 0) | counts) == funnel


def test_shares_are_compared_with_the_last_ten_that_were_sent(channel: Channel) -> None:
    a_sent_broadcast(channel, 99, delivered=100)  # the eleventh is too old
    for days in range(2, 2 + MOST_COMPARED - 1):
        a_sent_broadcast(channel, days, delivered=8, failed=2)
    a_sent_broadcast(channel, 20, sent=10, delivered=10, read=20, clicked=10)
    a_broadcast(channel=channel, created_at=now() - timedelta(days=1))  # has not ended
    own = a_sent_broadcast(channel, 0, delivered=50, read=30, failed=20, clicked=15)
    a_sent_broadcast(a_broadcast().channel, 1, failed=1)

    with CaptureQueriesContext(connection) as queries:
        results = results_of(own)
    assert len(queries) == 3
    shares = [(step.name, step.number, step.rate) for step in results.steps]
    assert shares == [("sent", 80, 80.0), ("delivered", 80, 100.0), ("read", 30, 37.5), ("clicked", 15, 50.0)]
    averages = [step.average for step in results.steps]
    assert results.compared == 10
    assert averages == pytest.approx([82.0, 97.5, 20 / 30 * 10, 50.0])

    month = date(2026, 11, 1)
    add_billed({Billed(own.pk, month, category, "DE", True): 3 for category in ("marketing", "of-tomorrow")})
    page = text(dashboard_client(channel.workspace).get(f"/app/broadcasts/{own.uuid}"))
    assert "Nov 2026 Marketing DE 3" in page
    assert "Nov 2026 of-tomorrow DE 3" in page
    # Each person counts once in the progress, so its words and its shares are not the results' own.
    assert "Read 30 30.0% Delivered, not read 50 50.0% Sent, not yet delivered 0 0.0%" in page
    assert "Read 30 37.5% average 6.7%" in page
    assert "the 10 broadcasts sent before this one" in page


def test_replies_and_opt_outs_that_followed_are_counted_for_three_days(channel: Channel) -> None:
    sent_at = now() - timedelta(days=10)
    own = a_sent_broadcast(channel, 10, delivered=6, skipped=1)
    people = []
    # Hours after the message at which each wrote and opted out.
    for number, (wrote, opted_out) in enumerate(((1, None), (71, 71), (73, 73), (-1, -1), (None, None))):
        receive(received(channel, person=person(number, name=f"Person {number}"), text="Hello"))
        thread = Conversation.objects.select_related("contact").latest("pk")
        if wrote is None:
            thread.messages.all().delete()
        else:
            Message.objects.filter(conversation=thread).update(provider_time=sent_at + timedelta(hours=wrote))
        if opted_out is not None:
            at = sent_at + timedelta(hours=opted_out)
            type(thread.contact).objects.filter(pk=thread.contact_id).update(marketing_opted_out_at=at)
        people.append(thread.contact)
    people.append(ContactFactory.create(workspace=channel.workspace))
    for one in people:
        a_recipient(own, contact=one, status="delivered", sent_at=sent_at)
    a_recipient(own, status="skipped", skip_reason="opted_out", address=None)

    followed = results_of(own).followed
    assert (followed.people, followed.replies, followed.opt_outs, followed.is_complete) == (6, 2, 1, True)
    page = text(dashboard_client(channel.workspace).get(f"/app/broadcasts/{own.uuid}"))
    assert "Replies 2 33.3% Opt-outs 1 16.7%" in page

"""Customers' lists of broadcasts and of their recipients: sorted, found, of any size, kept as a view."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from broadcasts.models import Broadcast
from broadcasts.services import listing
from broadcasts.services.counts import add_counts
from tests.agency.console.browsers import text
from tests.broadcasts.under_way import a_broadcast, a_busy_broadcast, a_draft, a_recipient
from tests.factories import ChannelFactory, ContactFactory
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
LIST = "/app/broadcasts"


@pytest.fixture
def channel() -> Channel:
    return ChannelFactory.create()


@pytest.fixture
def customer(channel: Channel) -> Client:
    return dashboard_client(channel.workspace)


def names(page: Any) -> list[str]:
    return re.findall(r'<a class="lead" href="/app/broadcasts/[^"]*">([^<]*)</a>', page.content.decode())


@pytest.fixture
def _three(channel: Channel) -> None:
    for name, status in (("b", "sent"), ("C", "Draft"), ("A", "sending")):
        if status == "Draft":
            a_draft(channel, name=name)
        else:
            ended = datetime.now(UTC) if status == "sent" else None
            a_broadcast(channel=channel, name=name, status=status, completed_at=ended)
    start = datetime(2026, 11, 1, tzinfo=UTC)
    for number, name in enumerate(("b", "C", "A")):
        Broadcast.objects.filter(name=name).update(created_at=start + timedelta(days=number))


@pytest.mark.usefixtures("_three")
def test_each_head_sorts_and_each_filter_narrows(customer: Client) -> None:
    wanted: list[tuple[dict[str, str], list[str]]] = [
        ({}, ["A", "C", "b"]),
        ({"sort": "when"}, ["b", "C", "A"]),
        ({"sort": "-when"}, ["A", "C", "b"]),
        ({"sort": "status"}, ["C", "A", "b"]),
        ({"sort": "-status"}, ["b", "A", "C"]),
        ({"sort": "progress"}, ["A", "C", "b"]),
        ({"search": "B"}, ["b"]),
        ({"search": "b", "status": "Draft"}, []),
        ({"search": "\0"}, ["A", "C", "b"]),
        ({"status": "Draft"}, ["C"]),
        ({"status": "odd"}, ["A", "C", "b"]),
    ]
    assert [(query, names(customer.get(LIST, query))) for query, _ in wanted] == wanted


@pytest.mark.usefixtures("_three")
def test_by_name_both_ways(customer: Client) -> None:
    forwards = names(customer.get(LIST, {"sort": "name"}))
    assert sorted(forwards) == ["A", "C", "b"]
    assert names(customer.get(LIST, {"sort": "-name"})) == forwards[::-1]


def test_a_view_of_the_list_is_kept_and_no_number_of_rows_costs_more(customer: Client, channel: Channel) -> None:
    a_busy_broadcast(channel)
    with CaptureQueriesContext(connection) as few:
        customer.get(LIST, {"size": "50"})
    for _ in range(4):
        a_busy_broadcast(channel)
    for number in range(22):
        a_draft(channel, name=f"Draft {number}")
    with CaptureQueriesContext(connection) as many:
        page = customer.get(LIST, {"size": "50"})
    assert len(names(page)) == 27
    assert len(many) == len(few)
    kept = customer.post("/app/views", {"page": "app:broadcasts", "name": "Long", "query": "size=50"}, follow=True)
    assert kept.redirect_chain == [(f"{LIST}?size=50", 302)]
    assert 'aria-current="page">Long</a>' in kept.content.decode()


def test_a_contacts_broadcasts_can_be_listed_alone(
    customer: Client, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = ContactFactory.create(workspace=channel.workspace, name="Ada")
    for name, status in (("Old", "sent"), ("Skipped", "skipped"), ("New", "failed")):
        a_recipient(a_broadcast(channel=channel, name=name), contact=ada, status=status)
    a_busy_broadcast(channel)
    page = customer.get(LIST, {"contact": str(ada.uuid)})
    assert names(page) == ["New", "Old"]
    assert re.search(rf'Contact: Ada</span><a href="{LIST}"', page.content.decode())
    assert names(customer.get(LIST, {"contact": str(ada.uuid), "search": "old", "sort": "name"})) == ["Old"]
    stranger = ContactFactory.create()
    for asked in ("x", str(stranger.uuid)):
        assert len(names(customer.get(LIST, {"contact": asked}))) == 4
    monkeypatch.setattr(listing, "MOST_SEARCHED", 2)
    page = customer.get(LIST, {"contact": str(ada.uuid)})
    assert names(page) == ["New"]
    assert "of 1+" in text(page)


def test_recipients_have_pages_of_any_size_and_no_views(customer: Client, channel: Channel) -> None:
    broadcast = a_busy_broadcast(channel)
    for _ in range(26):
        a_recipient(broadcast, contact=ContactFactory.create(workspace=channel.workspace))
    add_counts({broadcast.pk: {"sent": 26}})
    path = f"{LIST}/{broadcast.uuid}/recipients"
    with CaptureQueriesContext(connection) as few:
        page = customer.get(path)
    assert page.content.decode().count("<tr>") == 1 + 25
    with CaptureQueriesContext(connection) as many:
        page = customer.get(path, {"size": "50", "status": "sent"})
    assert page.content.decode().count("<tr>") == 1 + 27
    assert len(many) == len(few)
    assert "Sent, not yet delivered (27)" in text(page)
    assert "Save this view" not in text(page)

"""Sending to many asks first: the press that sends carries what was read, and is asked again where that changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import Broadcast
from broadcasts.services import forecast
from broadcasts.services.editing import change_broadcast
from tests.agency.console.browsers import hidden, text
from tests.broadcasts.under_way import a_broadcast, a_draft
from tests.factories import ChannelFactory, ContactFactory, WorkspaceFactory, a_message_template
from tests.processes.own_processes import database_url
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact
from workspaces.contacts.services.opt_outs import opt_out_contact
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db
TEMPLATE = {"template": "sale", "language": "en_US", "components": []}


@pytest.fixture
def channel() -> Channel:
    found: Channel = ChannelFactory.create(
        workspace=WorkspaceFactory.create(timezone="Europe/Berlin"), name="Front desk"
    )
    Channel.objects.filter(pk=found.pk).update(messaging_limit=250)
    a_message_template(found, text="The sale begins.", name="sale", language="en_US", parameters=[])
    return found


@pytest.fixture
def customer(channel: Channel) -> Client:
    return dashboard_client(channel.workspace)


def people(channel: Channel, number: int) -> list[Contact]:
    made = [
        Contact(workspace=channel.workspace, name=f"Person {one}", search_key="", phone=f"+4930{one:08}")
        for one in range(Contact.objects.count(), Contact.objects.count() + number)
    ]
    return Contact.objects.bulk_create(made)


def status() -> str:
    return Broadcast.objects.get().status


def question(customer: Client, broadcast: Broadcast, verb: str = "schedule") -> Any:
    answer = customer.get(f"/app/broadcasts/{broadcast.uuid}/{verb}")
    assert answer.status_code == 200
    return answer


def confirm(customer: Client, asked: Any, broadcast: Broadcast, verb: str = "schedule") -> Any:
    read = {name: hidden(asked, name) for name in ("people", "version")}
    return customer.post(f"/app/broadcasts/{broadcast.uuid}/{verb}", read)


def test_one_press_sends_nothing(customer: Client, channel: Channel) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    people(channel, 3)
    for page in ("", "/preview"):
        shown = customer.get(f"/app/broadcasts/{draft.uuid}{page}").content.decode()
        assert f'href="/app/broadcasts/{draft.uuid}/schedule"' in shown
        assert f'action="/app/broadcasts/{draft.uuid}/schedule"' not in shown

    asked = customer.post(f"/app/broadcasts/{draft.uuid}/schedule")
    assert (asked.status_code, status()) == (422, "Draft")
    assert confirm(customer, asked, draft).status_code == 302
    assert status() == "Scheduled"


def test_the_question_says_how_many_on_what_and_who_does_not_get_it(customer: Client, channel: Channel) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    people(channel, 1_200)
    out = ContactFactory.create(workspace=channel.workspace, phone="+4930999")
    opt_out_contact(contact=out, source=Contact.OptOutSource.KEYWORD, now=now())

    assert "Send to 1,200 now" in text(customer.get(f"/app/broadcasts/{draft.uuid}/preview"))
    asked = text(question(customer, draft))
    for words in ("Send to 1,200 now", "Front desk", "WhatsApp", "They want no messages", "Not now"):
        assert words in asked
    assert "950 people get it later" in asked


def test_a_time_is_repeated(customer: Client, channel: Channel) -> None:
    draft = a_draft(channel, message=TEMPLATE, scheduled_at=datetime(2027, 3, 1, 8, tzinfo=UTC))
    people(channel, 2)
    asked = text(question(customer, draft))
    assert "Schedule for 2 people" in asked
    assert "1 Mar 2027, 09:00" in asked
    assert " now" not in asked.partition("Schedule for")[2].partition("Not now")[0]


@pytest.mark.parametrize(("more", "expected"), [(1, "Scheduled"), (40, "Draft")])
def test_many_more_people_than_were_read_are_asked_about_again(
    customer: Client, channel: Channel, more: int, expected: str
) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    people(channel, 100)
    asked = question(customer, draft)
    people(channel, more)

    answer = confirm(customer, asked, draft)
    assert status() == expected
    if expected == "Draft":
        assert answer.status_code == 422
        assert "140 people would get it now, not 100." in text(answer)
        assert confirm(customer, answer, draft).status_code == 302
        assert status() == "Scheduled"


def test_what_another_person_changed_meanwhile_is_asked_about_again(customer: Client, channel: Channel) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    people(channel, 2)
    asked = question(customer, draft)
    change_broadcast(broadcast=draft, now=now(), by=SYSTEM, message={"text": "Another text"})

    answer = confirm(customer, asked, draft)
    assert (answer.status_code, status()) == (422, "Draft")
    assert "changed meanwhile" in text(answer)


def test_an_approval_asks_too(customer: Client, channel: Channel) -> None:
    waiting = a_draft(channel, message=TEMPLATE, requires_approval=True)
    people(channel, 3)
    asked = question(customer, waiting)
    assert "Nothing is sent before somebody has approved it." in text(asked)
    confirm(customer, asked, waiting)
    shown = customer.get(f"/app/broadcasts/{waiting.uuid}").content.decode()
    assert f'href="/app/broadcasts/{waiting.uuid}/approve"' in shown

    asked = customer.post(f"/app/broadcasts/{waiting.uuid}/approve")
    assert asked.status_code == 422
    assert "Approve and send to 3 now" in text(asked)
    assert Broadcast.objects.get().approved_at is None
    assert confirm(customer, asked, waiting, "approve").status_code == 302
    assert Broadcast.objects.get().approved_at is not None


def test_an_approval_of_what_changed_meanwhile_is_asked_about_again(customer: Client, channel: Channel) -> None:
    waiting = a_draft(channel, message=TEMPLATE, requires_approval=True)
    people(channel, 2)
    asked = question(customer, waiting, "approve")
    change_broadcast(broadcast=waiting, now=now(), by=SYSTEM, message={"text": "Another text"})

    answer = confirm(customer, asked, waiting, "approve")
    assert "changed meanwhile" in text(answer)
    assert Broadcast.objects.get().approved_at is None


def test_what_cannot_be_moved_says_so_and_asks_nothing(customer: Client, channel: Channel) -> None:
    begun = a_broadcast(channel=channel)
    path = f"/app/broadcasts/{begun.uuid}"
    assert customer.get(f"{path}/schedule")["Location"] == path
    assert "under way already" in text(customer.post(f"{path}/schedule", follow=True))
    assert "under way already" in text(customer.post(f"{path}/approve", follow=True))


def test_a_message_that_cannot_be_sent_is_refused_in_the_question(customer: Client, channel: Channel) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    Channel.objects.filter(pk=channel.pk).update(status="error")
    answer = customer.post(
        f"/app/broadcasts/{draft.uuid}/schedule",
        {"people": "0", "version": hidden(question(customer, draft), "version")},
    )
    assert "is not connected" in text(answer)
    assert status() == "Draft"


def test_a_number_that_nobody_could_count_is_said_and_confirmed_as_such(
    customer: Client, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    people(channel, 2)
    monkeypatch.setattr(forecast, "LONGEST_MS", 1)
    with _uses_held():
        asked = question(customer, draft)
        assert "Counting this audience takes too long" in text(asked)
        assert "Send now without knowing to how many" in text(asked)
        assert confirm(customer, asked, draft).status_code == 302
    assert status() == "Scheduled"


def test_what_was_not_counted_is_asked_about_once_it_is(
    customer: Client, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = a_draft(channel, message=TEMPLATE)
    people(channel, 2)
    with monkeypatch.context() as slow, _uses_held():
        slow.setattr(forecast, "LONGEST_MS", 1)
        asked = question(customer, draft)

    answer = confirm(customer, asked, draft)
    assert (answer.status_code, status()) == (422, "Draft")
    assert "Send to 2 now" in text(answer)


@contextmanager
def _uses_held() -> Iterator[None]:
    """Let nobody read who was written to within the day until the block ends: what counts an audience waits for it."""
    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE channelconnect_allowanceuse IN ACCESS EXCLUSIVE MODE")
        yield

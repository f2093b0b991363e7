"""What stands beside a conversation: who the contact is, and what other apps know about them, a few rows of each."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.factories import ClassSessionFactory, ServiceFactory
from tests.tenants import Tenant
from tests.workspaces.classes.people import contacts
from tests.workspaces.conversations.facts import receive, received, the_conversation
from workspaces.classes.services import add_participant, join_waiting_list
from workspaces.contacts.services.tasks import create_task
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
MOST_STATEMENTS = 44


def about(owner: Client) -> str:
    """What the page says beside the thread, and the statements that it took."""
    page = owner.get(f"/app/inbox/{the_conversation().uuid}")
    found = re.search(r'<aside class="inbox-about".*?</aside>', page.content.decode(), re.DOTALL)
    assert found
    page.content = found[0].encode()
    return text(page)


def one_of_each(a: Tenant, channel: Channel, number: int) -> None:
    """A class with a seat, one with a waiting list, a class that is over, a broadcast and a task of the contact."""
    contact, [other] = the_conversation().contact, contacts(a.workspace, 1)
    yoga = ServiceFactory.create(workspace=a.workspace, kind="class", name=f"Yoga {number}")
    taken, full, over = (
        ClassSessionFactory.create(
            workspace=a.workspace, service=yoga, capacity=1, starts_at=now() + timedelta(days=one)
        )
        for one in (1, 2, 3)
    )
    for session in (taken, over):
        add_participant(session=session, contact=contact, now=now())
    add_participant(session=full, contact=other, now=now())
    join_waiting_list(session=full, contact=contact, now=now())
    type(over).objects.filter(pk=over.pk).update(
        starts_at=now() - timedelta(days=2), ends_at=now() - timedelta(days=1), status="completed"
    )
    a_recipient(a_broadcast(channel=channel, name=f"Sale {number}"), contact=contact)
    create_task(workspace=a.workspace, contact=contact, title=f"Call {number}", now=now(), by=SYSTEM)


def test_a_few_rows_of_each_stand_beside_the_thread_at_the_same_few_statements(
    owner: Client, channel: Channel, a: Tenant
) -> None:
    receive(received(channel))
    shown = about(owner)
    for words in ("WhatsApp Person 1", "May be written to", "No classes", "No broadcasts", "No appointments"):
        assert words in shown
    one_of_each(a, channel, 0)
    with CaptureQueriesContext(connection) as few:
        shown = about(owner)
    for words in ("Yoga 0", "Waiting list", "Completed", "Sale 0 Sent", "Call 0", "No automation has run"):
        assert words in shown
    assert "All classes" not in shown
    for number in range(1, 6):
        one_of_each(a, channel, number)
    with CaptureQueriesContext(connection) as many:
        shown = about(owner)
    assert len(many) == len(few) <= MOST_STATEMENTS
    assert (shown.count("Yoga "), shown.count("Sale "), shown.count("Call ")) == (5, 3, 5)
    for words in ("All classes", "All broadcasts", "All tasks"):
        assert words in shown
    page = owner.get(f"/app/contacts/{the_conversation().contact.uuid}")
    assert "Yoga " in text(page)
    for name in ("classes", "broadcasts"):
        assert f'href="/app/{name}?contact={the_conversation().contact.uuid}"' in page.content.decode()

"""What each message and status changes of rows that are there: their indexes are left alone wherever they can be."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, status
from tests.workspaces.conversations.sending import send
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message
from workspaces.conversations.services import inbound

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
UPDATES = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = %s"


@contextmanager
def updates_of(table: str) -> Iterator[dict[str, int]]:
    """Count the rows of a table that are updated meanwhile, and those of them that left the indexes alone."""
    found: dict[str, int] = {}
    before = _updates(table)
    yield found
    found["all"], found["hot"] = (after - was for was, after in zip(before, _updates(table), strict=True))


def _updates(table: str) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(UPDATES, [table])
        updated, hot = cursor.fetchone()
    return updated, hot


def test_a_message_of_somebody_known_writes_no_index_of_contacts(a: Tenant) -> None:
    receive(*[received(a.channel, person=person(number)) for number in range(5)])
    with updates_of("contacts_contact") as contacts:
        receive(*[received(a.channel, person=person(number), at=moment(60)) for number in range(5)])
    assert contacts == {"all": 5, "hot": 5}
    assert set(Contact.objects.values_list("last_inbound_at", flat=True)) == {moment(60)}


def test_a_message_of_somebody_new_changes_no_contact_afterwards(a: Tenant) -> None:
    with updates_of("contacts_contact") as contacts:
        receive(
            received(a.channel, person=person(1), at=moment(5)),
            received(a.channel, person=person(1), at=moment(9)),
            received(a.channel, person=person(2), at=moment(3)),
        )
    assert contacts == {"all": 0, "hot": 0}
    found = Contact.objects.order_by("phone").values_list("last_inbound_at", "platforms")
    assert list(found) == [(moment(9), ["whatsapp"]), (moment(3), ["whatsapp"])]


def test_a_status_writes_no_index_of_messages(a: Tenant) -> None:
    receive(received(a.channel))
    send(a)
    sent = Message.objects.get(direction="out")
    Message.objects.filter(pk=sent.pk).update(provider_message_id="wamid.ours")
    with updates_of("conversations_message") as messages:
        for word in ("sent", "delivered", "read"):
            apply(inbound.apply_statuses, status(a.channel, "wamid.ours", word))
    assert messages == {"all": 3, "hot": 3}

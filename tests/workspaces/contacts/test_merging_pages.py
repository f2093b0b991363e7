"""Two contacts that are one person are found, compared and made one in the dashboard."""

from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ContactFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import person, receive, received
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact
from workspaces.contacts.services import opt_out_contact
from workspaces.conversations.models import Conversation

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


@pytest.fixture
def customer(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def two(a: Tenant) -> tuple[Contact, Contact]:
    """One who was imported, and one who has written."""
    receive(received(a.channel, person=person(1, name="Ada L.")))
    mail = ContactFactory.create(workspace=a.workspace, name="Ada L. Mail", email="ada@example.com", tags=["VIP"])
    return mail, Contact.objects.get(name="Ada L.")


def page_of(contact: Contact) -> str:
    return f"/app/contacts/{contact.uuid}/merge"


def merge(customer: Client, kept: Contact, other: Any, a: Tenant) -> Any:
    return customer.post(page_of(kept), {"other": str(other), "made_for": str(a.workspace.uuid)})


def test_they_become_one_with_the_conversations_of_both(customer: Client, a: Tenant) -> None:
    mail, writer = two(a)
    opt_out_contact(contact=mail, source=Contact.OptOutSource.DASHBOARD, now=now())
    found = customer.get(page_of(writer)).content.decode()
    assert f"?other={mail.uuid}" in found
    shown = text(customer.get(f"{page_of(writer)}?other={mail.uuid}"))
    assert "E-mail — ada@example.com ada@example.com" in shown
    assert "Keep the other one instead" in shown
    answer = merge(customer, writer, mail.uuid, a)
    assert answer.headers["Location"] == f"/app/contacts/{writer.uuid}"
    kept = Contact.objects.get()
    assert (kept.pk, kept.email, kept.tags, kept.opted_out) == (writer.pk, "ada@example.com", ["VIP"], True)
    assert Conversation.objects.get().contact == kept


def test_nobody_is_merged_with_themselves_a_stranger_or_nobody(customer: Client, a: Tenant, b: Tenant) -> None:
    mail, _ = two(a)
    foreign = ContactFactory.create(workspace=b.workspace)
    for other in (mail.uuid, foreign.uuid, "x", ""):
        assert merge(customer, mail, other, a).status_code == 404, other
    assert customer.get(f"{page_of(mail)}?other={foreign.uuid}").status_code == 404
    assert Contact.objects.count() == 3


def test_the_search_takes_whatever_is_typed(customer: Client, a: Tenant) -> None:
    mail, writer = two(a)
    assert "Ada L." in text(customer.get(page_of(mail), {"search": "+4915112345001"}))
    assert "No contact matches" in text(customer.get(page_of(mail), {"search": "100%"}))
    assert customer.get(f"{page_of(mail)}?search=%00").status_code == 200
    assert Contact.objects.filter(pk=writer.pk).exists()

"""Test sends: to a few contacts, now, as messages of their conversations."""

from typing import Any

import pytest

from broadcasts.models import Broadcast
from tests import furnished
from tests.broadcasts.making import a_template, create, some_contacts
from tests.tenants import Tenant
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_channel, furnished.b_with_channel

pytestmark = pytest.mark.django_db


def try_out(a: Tenant, shown: dict[str, Any], *contacts: Contact, **headers: str) -> Any:
    ids = [str(one.uuid) for one in contacts]
    return a.workspace_api.post(f"/broadcasts/{shown['id']}/test", {"contacts": ids}, **headers)


def greeting(a: Tenant) -> dict[str, Any]:
    """A template with a document and a name in it."""
    a_template(a.channel, "document", "body")
    Workspace.objects.filter(pk=a.workspace.pk).update(website="https://shop.example.com")
    texts = [{"type": "text", "text": "{{contact.first_name}} of {{fields.town}}, see {{workspace.website}}"}]
    message = {
        "template": "summer_sale",
        "language": "en_US",
        "components": [{"type": "body", "parameters": texts}],
        "header": {"url": "https://93.184.215.14/{{fields.town}}.pdf", "filename": "{{contact.last_name}}.pdf"},
    }
    return create(a, message=message)


def test_a_few_contacts_get_it_with_what_is_theirs(a: Tenant) -> None:
    shown = greeting(a)
    [ada, ben] = some_contacts(a, 2)
    Contact.objects.filter(pk=ada.pk).update(name="Ada Lovelace King", attributes={"town": "London"})
    Contact.objects.filter(pk=ben.pk).update(name="Ben Nevis", attributes={"town": "Fort William"})
    answer = try_out(a, shown, ada, ben)
    assert answer.status_code == 202, answer.content
    first, second = answer.json()["data"]
    assert first["text"] == "Hello Ada of London, see https://shop.example.com, the sale begins."
    assert second["text"].startswith("Hello Ben of Fort William")
    header = {"link": "https://93.184.215.14/London.pdf", "filename": "Lovelace King.pdf"}
    assert first["template"]["components"][0]["parameters"] == [{"type": "document", "document": header}]
    assert QueuedMessage.objects.count() == 2
    read = a.workspace_api.get(f"/broadcasts/{shown['id']}").json()["data"]
    assert (read["recipients_count"], sum(read["counts"].values())) == (0, 0)

    Broadcast.objects.update(fallbacks={"fields.town": "Bath"})
    Contact.objects.filter(pk=ben.pk).update(attributes={})
    [third] = try_out(a, shown, ben).json()["data"]
    assert third["text"].startswith("Hello Ben of Bath")
    changed = a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"message": {"text": "{{fields.town}}"}})
    assert "fallbacks" not in changed.json()["data"]
    assert Broadcast.objects.get().fallbacks == {"fields.town": "Bath"}
    a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"message": {"text": "Hello"}})
    assert Broadcast.objects.get().fallbacks == {}


def test_it_is_sent_to_all_of_them_or_to_none(a: Tenant) -> None:
    shown = greeting(a)
    [ada, ben] = some_contacts(a, 2)
    Contact.objects.filter(pk=ada.pk).update(name="Ada Lovelace", attributes={"town": "London"})
    answer = try_out(a, shown, ada, ben)
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"contacts.1": ["This contact has no value for {{fields.town}}."]}
    Contact.objects.filter(pk=ben.pk).update(
        attributes={"town": "Bath"}, opted_out_at="2026-01-01T00:00Z", opt_out_source="api"
    )
    answer = try_out(a, shown, ada, ben)
    assert (answer.status_code, answer.json()["message"]) == (409, "This contact has opted out.")
    assert not Message.objects.exists()


def test_at_most_five_of_the_workspaces_own(a: Tenant, b: Tenant) -> None:
    a_template(a.channel)
    shown = create(a, message={"template": "summer_sale", "language": "en_US"})
    people = some_contacts(a, 6)
    assert list(try_out(a, shown, *people).json()["errors"]) == ["contacts"]
    assert list(try_out(a, shown).json()["errors"]) == ["contacts"]
    answer = try_out(a, shown, people[0], b.contact)
    assert (answer.status_code, answer.json()["message"]) == (404, "Contact not found.")
    first = try_out(a, shown, *people[:5], Idempotency_Key="one")
    assert first.status_code == 202
    assert try_out(a, shown, *people[:5], Idempotency_Key="one").json() == first.json()
    assert Message.objects.count() == 5


def test_a_text_waits_for_an_open_window_as_any_other(a: Tenant) -> None:
    answer = try_out(a, create(a), *some_contacts(a, 1))
    assert answer.status_code == 409
    assert answer.json()["message"] == "The 24-hour window of this conversation is closed. Send a template."

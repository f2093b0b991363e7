"""What a workspace's webhooks are told of contacts and segments; nothing is written that nobody wants."""

from typing import Any

import orjson
import pytest
from django.db import transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.event_types import declared_events
from agency.models import Event
from agency.tenants import Audience
from tests import furnished
from tests.tenants import Tenant
from webhooks.services.endpoints import register_endpoint
from workspaces.contacts.models import Contact
from workspaces.contacts.services import (
    ChannelPerson,
    events,
    find_or_create_contacts,
    opt_in_contacts,
    opt_out_contact,
    opt_out_contacts,
)
from workspaces.subaccounts.services import tenant_of

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
EVERYTHING = [value for name, value in vars(events).items() if name.isupper() and isinstance(value, str)]


@pytest.fixture
def subscribed(a: Tenant) -> Tenant:
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=EVERYTHING, by=SYSTEM)
    return a


def take_recorded_events() -> list[tuple[str, dict[str, Any]]]:
    """The names and data of what has been recorded for workspaces since the last time."""
    rows = Event.objects.exclude(workspace_id=None).order_by("id")
    found = [(row.name, orjson.loads(row.body)["data"]) for row in rows]
    rows.delete()
    return found


def make(a: Tenant, **values: Any) -> dict[str, Any]:
    return dict(a.workspace_api.post("/contacts", {"name": "Ada", **values}).json()["data"])


def test_each_change_of_a_contact_is_told(subscribed: Tenant) -> None:
    a = subscribed
    card = make(a, tags=["VIP"])
    assert take_recorded_events() == [("contact.created", {"contact": card})]
    path = f"/contacts/{card['id']}"
    changed = a.workspace_api.patch(path, {"name": "Ada L.", "tags": ["New", "vip"]}).json()["data"]
    changes = {"name": {"from": "Ada", "to": "Ada L."}, "tags": {"from": ["VIP"], "to": ["New", "vip"]}}
    assert take_recorded_events() == [
        ("contact.updated", {"contact": changed, "changes": changes}),
        ("contact.tagged", {"contact": changed, "tags": ["New"]}),
    ]
    changed = a.workspace_api.patch(path, {"tags": []}).json()["data"]
    assert [name for name, _ in take_recorded_events()] == ["contact.updated", "contact.untagged"]
    a.workspace_api.patch(path, {"tags": [], "name": "Ada L."})
    assert take_recorded_events() == []
    a.workspace_api.delete(path)
    assert take_recorded_events() == [("contact.deleted", {"contact": changed})]


def test_opting_out_and_in_is_told_once(subscribed: Tenant) -> None:
    a = subscribed
    first, second = make(a), make(a)
    take_recorded_events()
    assert a.workspace_api.patch(f"/contacts/{first['id']}", {"opted_out": True}).json()["data"]["opted_out"]
    assert [name for name, _ in take_recorded_events()] == ["contact.opted_out"]
    ids = list(Contact.objects.order_by("id").values_list("id", flat=True))
    source = Contact.OptOutSource.KEYWORD
    assert opt_out_contacts(contacts=ids, source=source, now=now()) == {ids[1]}
    assert take_recorded_events() == [("contact.opted_out", {"contact": {**second, "opted_out": True}})]
    assert set(Contact.objects.values_list("opt_out_source", flat=True)) == {"api", "keyword"}
    assert opt_out_contact(contact=Contact.objects.get(pk=ids[1]), source=Contact.OptOutSource.API, now=now()).opted_out
    assert take_recorded_events() == []
    assert opt_in_contacts(contacts=ids, now=now()) == set(ids)
    assert [name for name, _ in take_recorded_events()] == ["contact.opted_in"] * 2
    assert opt_in_contacts(contacts=ids, now=now()) == set()
    assert take_recorded_events() == []


def test_an_import_tells_of_each_contact_and_of_its_end(subscribed: Tenant) -> None:
    make(subscribed, phone="+4930123456")
    take_recorded_events()
    rows = [{"phone": "+4930123456", "tags": ["VIP"]}, {"phone": "+4930123457"}, {"phone": "030"}]
    subscribed.workspace_api.post("/contacts/import", {"contacts": rows})
    names, data = zip(*take_recorded_events(), strict=True)
    assert names == ("contact.updated", "contact.tagged", "contact.created", "contact.import_completed")
    assert data[-1] == {"contact_import": {"origin": "api", "filename": None, "created": 1, "updated": 1, "refused": 1}}


def test_people_who_write_for_the_first_time_are_told(subscribed: Tenant) -> None:
    a = subscribed
    people = [
        ChannelPerson(channel_id=a.channel.pk, workspace_id=a.workspace.pk, external_id=f"wa-{number}", name="Ada")
        for number in range(2)
    ]
    take_recorded_events()
    for _ in range(2):
        with transaction.atomic():
            find_or_create_contacts(people=people, now=now())
    found = [(name, data["contact"]["channels"]["whatsapp"]) for name, data in take_recorded_events()]
    assert sorted(found) == [("contact.created", "wa-0"), ("contact.created", "wa-1")]


def test_a_merge_tells_what_became_of_both(subscribed: Tenant) -> None:
    kept, gone = make(subscribed), make(subscribed, phone="+4930123456")
    take_recorded_events()
    merged = subscribed.workspace_api.post(f"/contacts/{kept['id']}/merge", {"contact": gone["id"]}).json()["data"]
    (deleted, before), (updated, after) = take_recorded_events()
    assert (deleted, before["contact"], updated, after["contact"]) == (
        "contact.deleted",
        gone,
        "contact.updated",
        merged,
    )


def test_each_change_of_a_segment_is_told(subscribed: Tenant) -> None:
    api = subscribed.workspace_api
    card = api.post("/segments", {"name": "Regulars", "filter": {"country": "DE"}}).json()["data"]
    del card["size"]
    api.patch(f"/segments/{card['id']}", {"name": "Germans", "filter": {"country": "DE"}})
    api.patch(f"/segments/{card['id']}", {"name": "Germans"})
    api.delete(f"/segments/{card['id']}")
    changed = {**card, "name": "Germans"}
    assert take_recorded_events() == [
        ("segment.created", {"segment": card}),
        ("segment.updated", {"segment": changed, "changes": {"name": {"from": "Regulars", "to": "Germans"}}}),
        ("segment.deleted", {"segment": changed}),
    ]


def test_nothing_is_written_where_nobody_has_asked(a: Tenant) -> None:
    card = make(a, tags=["VIP"])
    a.workspace_api.post("/contacts/import", {"contacts": [{"phone": "+4930123457"}]})
    a.workspace_api.delete(f"/contacts/{card['id']}")
    assert not Event.objects.exclude(workspace_id=None).exists()


def test_every_topic_is_declared_for_workspaces() -> None:
    declared = {one.name for one in declared_events(Audience.WORKSPACE)}
    assert set(EVERYTHING) <= declared

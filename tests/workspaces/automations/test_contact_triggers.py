"""Facts about contacts that no message brings: each is recorded once, and only where an automation starts with it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.channelconnect.sending.messages import a_conversation
from tests.factories import ContactFactory
from tests.factories.flows import a_flow
from tests.packs.client import an_automation
from tests.tenants import Tenant
from workspaces.automations.models import Automation, ContactQueue, TriggerEvent
from workspaces.automations.services import disable_automation
from workspaces.automations.services.contact_triggers import DateWalk, birthdays_due
from workspaces.automations.tasks import find_dates
from workspaces.contacts.models import Contact
from workspaces.contacts.services import merge_contacts, update_contact
from workspaces.contacts.services.tag_handlers import ChangeCause
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


def on(workspace: Workspace, trigger: str, **config: Any) -> Automation:
    """An automation that is on, whatever it may still need."""
    made = an_automation(workspace, flow=a_flow(trigger=trigger, **config))
    Automation.objects.filter(pk=made.pk).update(enabled=True)
    return made


def told(kind: str) -> list[tuple[str, str]]:
    """The name of each contact with its fact's subject, in the order in which they were recorded."""
    names = dict(Contact.objects.values_list("pk", "name"))
    rows = TriggerEvent.objects.filter(kind=kind).order_by("pk")
    return [(names[row.contact_id], row.subject) for row in rows]


def test_a_tag_that_starts_an_automation_is_told_by_every_way_of_adding_it(a: Tenant, b: Tenant) -> None:
    vip = on(a.workspace, "tag_added", tag=" VIP ")
    on(a.workspace, "birthday")
    created = a.workspace_api.post("/contacts", {"name": "Ada", "phone": "+4915112345678", "tags": ["vip", "new"]})
    path = f"/contacts/{created.json()['data']['id']}"
    assert told("tag_added") == [("Ada", "vip")]
    for tags in (["Vip"], ["new"], ["VIP", "new"], ["VIP"]):
        assert a.workspace_api.patch(path, {"tags": tags}).status_code == 200
    assert told("tag_added") == [("Ada", "vip")] * 2, "taken away and added again"

    rows = [{"phone": "+4915112345678", "tags": ["vip"]}, {"phone": "+4915112345679", "name": "Bo", "tags": ["VIP"]}]
    assert a.workspace_api.post("/contacts/import", {"contacts": rows}).status_code == 200
    assert told("tag_added")[2:] == [("Bo", "vip")]
    bo = Contact.objects.get(name="Bo")
    assert ContactQueue.objects.get(contact_id=bo.pk).is_due

    other = ContactFactory.create(workspace=a.workspace, name="Cy")
    update_contact(contact=other, now=now(), tags=["VIP"], cause=ChangeCause(run=7, automation=vip.pk, depth=2))
    event = TriggerEvent.objects.get(contact_id=other.pk)
    assert (event.depth, event.cause, event.data) == (3, 7, {"by": vip.pk})
    merge_contacts(contact=ContactFactory.create(workspace=a.workspace), other=other, now=now(), by=SYSTEM)
    ContactFactory.create(workspace=b.workspace, tags=["VIP"])
    disable_automation(automation=vip, now=now(), by=SYSTEM)
    ContactFactory.create(workspace=a.workspace, tags=["VIP"])
    assert TriggerEvent.objects.filter(kind="tag_added").count() == 4


BERLIN, LA, KIRITIMATI = "Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati"


@pytest.mark.parametrize(
    ("written", "zone", "at", "due"),
    [
        ("1990-05-17", BERLIN, "2026-05-17T06:59:59", None),
        ("1990-05-17", BERLIN, "2026-05-17T07:00:00", "2026-05-17"),
        ("05-17", BERLIN, "2026-05-18T06:59:59", "2026-05-17"),
        ("--05-17", BERLIN, "2026-05-18T07:00:00", None),
        ("05-17", LA, "2026-05-18T15:59:59", "2026-05-17"),
        ("05-17", KIRITIMATI, "2026-05-16T19:00:00", "2026-05-17"),
        ("05-17", None, "2026-05-17T07:00:00", "2026-05-17"),
        ("12-31", LA, "2027-01-01T01:00:00", "2026-12-31"),
        ("2000-02-29", BERLIN, "2026-02-28T08:00:00", "2026-02-28"),
        ("2000-02-29", BERLIN, "2028-02-28T08:00:00", None),
        ("2000-02-29", BERLIN, "2028-02-29T08:00:00", "2028-02-29"),
        ("17.05.1990", BERLIN, "2026-05-17T12:00:00", None),
        ("02-30", BERLIN, "2026-02-28T12:00:00", None),
        ("\u0660\u0665-17", BERLIN, "2026-05-17T12:00:00", None),
    ],
)
def test_a_birthday_is_due_for_a_day_from_nine_on_the_contacts_clocks(
    written: str, zone: str | None, at: str, due: str | None
) -> None:
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    found = list(birthdays_due(written, zone=zone, otherwise=BERLIN, now=moment))
    assert found == ([date.fromisoformat(due)] if due else [])


def a_person(tenant: Tenant, name: str, **changes: Any) -> Contact:
    """A contact with a conversation on WhatsApp."""
    contact: Contact = a_conversation(tenant.channel).contact
    Contact.objects.filter(pk=contact.pk).update(name=name, **changes)
    return contact


def walk(at: datetime) -> None:
    pages = DateWalk(at)
    while pages.walk_page():
        pass


def test_dates_are_found_once_page_by_page(a: Tenant, b: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspaces.automations.services.contact_triggers.PAGE_SIZE", 2)
    at = datetime(2026, 5, 17, 12, tzinfo=UTC)
    born = {"attributes": {"birthday": "1990-05-17"}}
    for tenant in (a, b):
        a_person(tenant, "Ada", last_inbound_at=at - timedelta(days=30, hours=1), **born)
        a_person(tenant, "Late", last_inbound_at=at - timedelta(days=31), attributes={"birthday": "05-16"})
        a_person(tenant, "Early", last_inbound_at=at - timedelta(days=30) + timedelta(minutes=2))
        out = {"opted_out_at": at, "opt_out_source": "api", "last_inbound_at": at - timedelta(days=30)}
        a_person(tenant, "Out", **out, **born)
        a_person(tenant, "Elsewhere", platforms=["instagram"], **born)
        a_person(tenant, "Bo", last_inbound_at=at - timedelta(days=60), **born)
        a_person(tenant, "Unread", attributes={"birthday": "May 17"})
    walk(at)
    assert not TriggerEvent.objects.exists()
    on(a.workspace, "birthday")
    on(a.workspace, "contact_inactive", days=30)
    on(a.workspace, "contact_inactive", days=60)
    on(b.workspace, "contact_inactive", days=60)
    for later in (0, 1):
        walk(at + timedelta(minutes=later))
    assert told("birthday") == [("Ada", ""), ("Bo", "")]
    assert sorted(told("contact_inactive")) == [("Ada", "30"), ("Bo", "60"), ("Bo", "60")]
    Contact.objects.filter(name="Ada").update(last_inbound_at=at)
    walk(at + timedelta(days=30))
    walk(at + timedelta(days=365))
    assert told("contact_inactive")[3:] == [("Ada", "30")]
    assert told("birthday")[2:] == [("Ada", ""), ("Bo", "")]


def test_the_task_judges_by_the_clock_of_the_database(a: Tenant) -> None:
    on(a.workspace, "contact_inactive", days=7)
    a_person(a, "Ada", last_inbound_at=now() - timedelta(days=7, minutes=1))
    find_dates()
    assert sorted(told("contact_inactive")) == [("Ada", "7")]

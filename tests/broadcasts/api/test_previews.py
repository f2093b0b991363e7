"""Previews: what would happen is told, and nothing is made."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient
from tests import furnished
from tests.broadcasts.making import a_body, a_template, create, some_contacts
from tests.tenants import Tenant
from workspaces.contacts.models import Contact

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db
GREETING = {
    "template": "summer_sale",
    "language": "en_US",
    "components": [{"type": "body", "parameters": [{"type": "text", "text": "{{contact.first_name}}"}]}],
}


def people(a: Tenant) -> list[Contact]:
    """Three who get it, one who opted out and one whose first name nobody knows."""
    found = some_contacts(a, 5)
    Contact.objects.filter(pk=found[3].pk).update(opted_out_at=now(), opt_out_source="api")
    Contact.objects.filter(pk=found[4].pk).update(name="")
    return found


def test_nothing_is_made_and_everything_is_told(a: Tenant) -> None:
    a_template(a.channel, "body")
    people(a)
    at = (now() + timedelta(days=1)).replace(microsecond=0)
    answer = a.workspace_api.post("/broadcasts/preview", a_body(a, message=GREETING, scheduled_at=at.isoformat()))
    assert answer.status_code == 200, answer.content
    told = answer.json()["data"]
    iso = at.isoformat().replace("+00:00", "Z")
    assert (told["recipients_count"], told["skipped"]) == (5, {"opted_out": 1, "variable_missing": 1})
    assert told["waves"] == [{"at": iso, "count": 3}]
    assert (told["held_count"], told["last_wave_at"], told["cost"]) == (0, iso, None)
    assert told.keys().isdisjoint({"missing", "limit"})
    assert told["sample"][0] == "Hello Person, the sale begins."
    assert not Broadcast.objects.exists()
    assert not Recipient.objects.exists()


def test_a_draft_is_looked_ahead_at_by_its_zones(a: Tenant) -> None:
    a_template(a.channel, "body")
    found = people(a)
    Contact.objects.filter(pk=found[0].pk).update(timezone="Asia/Tokyo")
    Contact.objects.filter(pk=found[1].pk).update(timezone="America/New_York")
    day = date(now().year + 1, 6, 1)
    shown = create(a, message=GREETING, timezone_mode="contact", scheduled_local_at=f"{day} 09:00:00")
    told = a.workspace_api.post(f"/broadcasts/{shown['id']}/preview").json()["data"]
    assert [(zone["timezone"], zone["count"], zone["sends_at"]) for zone in told["zones"]] == [
        ("Asia/Tokyo", 1, f"{day}T00:00:00Z"),
        ("UTC", 1, f"{day}T09:00:00Z"),
        ("America/New_York", 1, f"{day}T13:00:00Z"),
    ]
    assert a.workspace_api.get(f"/broadcasts/{shown['id']}").json()["data"] == shown


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"message": {"text": "{{contact.age}}"}}, 422), ({"channel": "0a4ce8f1-22c4-4a62-9f5e-64c2f43a9d1b"}, 404)],
)
def test_what_could_not_be_created_cannot_be_looked_ahead_at(a: Tenant, changes: dict[str, Any], status: int) -> None:
    assert a.workspace_api.post("/broadcasts/preview", a_body(a, **changes)).status_code == status

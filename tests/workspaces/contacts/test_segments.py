"""`/segments`: saved filters, and which contacts they find."""

from typing import Any

import pytest
from django.db import transaction
from django.utils.timezone import now

from tests.factories import ContactFactory
from tests.tenants import Tenant
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.services import ChannelPerson, contacts_in, contacts_of_people, count_contacts

pytestmark = pytest.mark.django_db
EARLY = "2020-01-01T00:00:00Z"


def create(a: Tenant, name: str = "Regulars", **conditions: Any) -> Any:
    return a.workspace_api.post("/segments", {"name": name, "filter": conditions})


@pytest.fixture
def people(a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, name="Ada", phone="+4930123456", tags=["VIP", "New"])
    ContactFactory.create(workspace=a.workspace, name="Grace", phone="+16502530000", tags=["new"])
    ContactFactory.create(workspace=a.workspace, name="Linus", attributes={"plan": "gold", "age": "5"})
    Contact.objects.filter(name="Linus").update(created_at=EARLY)
    person = ChannelPerson(
        channel_id=a.channel.pk, workspace_id=a.workspace.pk, external_id="1", phone="+4930123456", name="Ada"
    )
    with transaction.atomic():
        contacts_of_people(people=[person], now=now())


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ({}, {"Ada", "Grace", "Linus"}),
        ({"tags_any": ["vip", "none"]}, {"Ada"}),
        ({"tags_any": ["NEW"]}, {"Ada", "Grace"}),
        ({"tags_all": ["VIP", "new"]}, {"Ada"}),
        ({"tags_none": ["vip"]}, {"Grace", "Linus"}),
        ({"tags_any": ["new"], "tags_none": ["vip"]}, {"Grace"}),
        ({"country": "de"}, {"Ada"}),
        ({"timezone": "Europe/Berlin"}, {"Ada"}),
        ({"has_channel": "whatsapp"}, {"Ada"}),
        ({"has_channel": "instagram"}, set()),
        ({"attributes": {"plan": "gold"}}, {"Linus"}),
        ({"attributes": {"plan": "silver"}}, set()),
        ({"created_before": "2021-01-01T00:00:00+01:00"}, {"Linus"}),
        ({"created_after": "2021-01-01T00:00:00Z", "country": "US"}, {"Grace"}),
    ],
)
def test_a_segment_finds_who_meets_all_of_its_conditions(
    a: Tenant, conditions: dict[str, Any], found: set[str]
) -> None:
    answer = create(a, **conditions)
    assert answer.status_code == 201, answer.json()
    segment = Segment.objects.select_related("workspace").get()
    assert {contact.name for contact in contacts_in(segment)} == found
    assert answer.json()["data"]["size"] == len(found)


@pytest.mark.parametrize(
    ("conditions", "field"),
    [
        ({"tag": ["VIP"]}, "filter.tag"),
        ({"tags_any": "VIP"}, "filter.tags_any"),
        ({"tags_any": ["VIP", 1]}, "filter.tags_any.1"),
        ({"country": "Germany"}, "filter.country"),
        ({"timezone": "Berlin"}, "filter.timezone"),
        ({"has_channel": "fax"}, "filter.has_channel"),
        ({"has_channel": ["whatsapp"]}, "filter.has_channel"),
        ({"attributes": ["plan"]}, "filter.attributes"),
        ({"attributes": {"plan": None}}, "filter.attributes.plan"),
        ({"created_after": "2026-01-01"}, "filter.created_after"),
        ({"created_before": "0001-01-01T00:00:00+23:00"}, "filter.created_before"),
    ],
)
def test_a_filter_is_judged_strictly(a: Tenant, conditions: dict[str, Any], field: str) -> None:
    answer = create(a, **conditions)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]


def test_all_that_is_wrong_is_told_at_once(a: Tenant) -> None:
    answer = create(a, tag=1, country="XX")
    assert sorted(answer.json()["errors"]) == ["filter.country", "filter.tag"]
    whole = a.workspace_api.post("/segments", {"name": "Regulars", "filter": []})
    assert whole.json()["errors"] == {"filter": ["The filter field must be an object."]}


@pytest.mark.usefixtures("people")
def test_segments_are_read_changed_and_removed(a: Tenant, b: Tenant, django_assert_max_num_queries: Any) -> None:
    first = create(a, "Regulars", tags_any=["New"]).json()["data"]
    create(a, "Germans", country="DE", tags_any=[], timezone=None)
    with django_assert_max_num_queries(5):
        listed = a.workspace_api.get("/segments").json()["data"]
    assert [(one["name"], one["size"]) for one in listed] == [("Germans", 1), ("Regulars", 2)]
    assert listed[0]["filter"] == {"country": "DE"}
    path = f"/segments/{first['id']}"
    assert a.workspace_api.get(path).json()["data"] == first
    changed = a.workspace_api.patch(path, {"filter": {"country": "US"}}).json()["data"]
    assert changed == {**first, "filter": {"country": "US"}, "size": 1}
    taken = a.workspace_api.patch(path, {"name": "GERMANS"})
    assert taken.json()["errors"] == {"name": ["Another segment has this name."]}
    assert b.workspace_api.get(path).json() == {"message": "Segment not found."}
    assert a.workspace_api.delete(path).json() == {"data": {"deleted": True}}
    assert a.workspace_api.delete(path).status_code == 404
    assert count_contacts(a.workspace) == 3

"""`/segments`: saved filters, and which contacts they find."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests import furnished
from tests.factories import ContactFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.contacts.models import Contact, ContactFacetCount, Segment
from workspaces.contacts.services import (
    ChannelPerson,
    count_contacts,
    counting,
    find_or_create_contacts,
    segment_contacts,
)
from workspaces.contacts.services.counting import merge_counts, recount_segments

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
EARLY = "2020-01-01T00:00:00Z"
INSERT_MANY = """
INSERT INTO contacts_contact (uuid, workspace_id, name, tags, search_key, created_at, updated_at)
SELECT gen_random_uuid(), %s, 'Contact ' || n, '{}', 'contact ' || n, now(), now() FROM generate_series(1, %s) AS n
"""


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
        find_or_create_contacts(people=[person], now=now())


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
    assert {contact.name for contact in segment_contacts(segment)} == found
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


def test_sizes_follow_every_change_and_outlast_the_merging_of_counts(a: Tenant) -> None:
    filters: list[dict[str, Any]] = [
        {},
        {"country": "DE"},
        {"timezone": "Europe/Vienna"},
        {"tags_all": ["Vip", "new"]},
        {"tags_any": ["old", "new"]},
        {"tags_none": ["vip"], "country": "AT"},
        {"has_channel": "whatsapp", "tags_none": ["old"]},
        {"attributes": {"plan": "gold"}},
        {"attributes": {"plan": "gold", "size": "1"}, "tags_any": ["new", "old"], "created_after": EARLY},
        {"created_after": EARLY, "country": "DE", "has_channel": "whatsapp"},
        {"created_before": EARLY, "timezone": "Europe/Berlin"},
        {"attributes": {"size": "2"}, "tags_none": ["vip"], "tags_all": ["new"]},
    ]
    for number, conditions in enumerate(filters):
        assert create(a, f"Segment {number}", **conditions).status_code == 201

    def assert_exact() -> list[int]:
        shown = {one["name"]: one["size"] for one in a.workspace_api.get("/segments").json()["data"]}
        segments = Segment.objects.select_related("workspace").order_by("pk")
        assert shown == {one.name: segment_contacts(one).count() for one in segments}
        return list(shown.values())

    rows = [
        {
            "phone": f"+49 30 {number:07}" if number % 2 else f"+43 1 {number:07}",
            "tags": ["VIP", "New"][: number % 3],
            "attributes": {"plan": "gold", "size": str(number % 3)} if number % 4 else {},
        }
        for number in range(60)
    ]
    a.workspace_api.post("/contacts/import", {"contacts": rows})
    first = assert_exact()
    a.workspace_api.post("/contacts/import", {"contacts": [{**row, "tags": ["Old"]} for row in rows[:20]]})
    assert assert_exact() != first
    ids = [str(uuid) for uuid in Contact.objects.of(a.workspace).order_by("pk").values_list("uuid", flat=True)]
    a.workspace_api.patch(f"/contacts/{ids[0]}", {"tags": [], "country": "DE", "attributes": {"size": "2"}})
    a.workspace_api.delete(f"/contacts/{ids[1]}")
    a.workspace_api.post(f"/contacts/{ids[2]}/merge", {"contact": ids[3]})
    Contact.objects.filter(uuid__in=ids[4:9]).delete()
    people = [
        ChannelPerson(channel_id=a.channel.pk, workspace_id=a.workspace.pk, external_id=f"4930{number:07}", phone=phone)
        for number, phone in enumerate(["+49300000011", "+49300000013", "+49309999999", ""])
    ]
    with transaction.atomic():
        find_or_create_contacts(people=people, now=now())
    counting, added = assert_exact(), ContactFacetCount.objects.count()
    assert merge_counts(rows=10)
    assert not merge_counts(rows=10)
    assert ContactFacetCount.objects.count() < added / 2
    assert assert_exact() == counting


def test_whatever_a_segment_asks_is_counted_in_an_index_alone(a: Tenant) -> None:
    ContactFactory.create_batch(3, workspace=a.workspace, attributes={"plan": "gold"})
    segment = create(a, attributes={"plan": "gold"}, country="DE", created_after=EARLY).json()["data"]
    with CaptureQueriesContext(connection) as captured:
        a.workspace_api.get(f"/segments/{segment['id']}")
    [counted] = [one["sql"] for one in captured if "contacts_fact(" in one["sql"]]
    with connection.cursor() as cursor:
        # The table is small enough here to be read whole, by any way; in a large one that takes longer.
        for way in ("seqscan", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute("DROP INDEX contact_in_order")
        cursor.execute(f"EXPLAIN {counted}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Only Scan using contact_newest" in plan


def test_counts_that_are_merged_meanwhile_are_neither_lost_nor_doubled(a: Tenant, transactional_db: None) -> None:
    segment = create(a, "Germans", country="DE").json()["data"]
    before = segment["size"]

    def work(number: int) -> int:
        if number % 5 == 0:
            merge_counts(rows=1)
        row = {"phone": f"+49 30 {number:07}", "tags": [f"Tag {number % 7}"]}
        # The calls wait for each other; one that has waited for too long, on a busy machine, is asked to come again.
        while (status := int(a.workspace_api.post("/contacts/import", {"contacts": [row]}).status_code)) == 503:
            pass
        return status

    assert at_once(work, times=30, threads=4) == [200] * 30
    merge_counts(rows=1)
    assert a.workspace_api.get(f"/segments/{segment['id']}").json()["data"]["size"] == before + 30


def sizes_of(a: Tenant) -> dict[str, int | None]:
    return {one["name"]: one["size"] for one in a.workspace_api.get("/segments").json()["data"]}


def test_the_size_of_a_segment_of_very_many_contacts_is_kept_and_counted_anew(a: Tenant, monkeypatch: Any) -> None:
    monkeypatch.setattr(counting, "MOST_COUNTED_AT_ONCE", 2)
    ContactFactory.create_batch(3, workspace=a.workspace, attributes={"plan": "gold"})
    made = create(a, "Gold", attributes={"plan": "gold"}).json()["data"]
    create(a, "Germans", country="DE")
    assert made["size"] == 3
    ContactFactory.create(workspace=a.workspace, attributes={"plan": "gold"}, country="DE")
    with CaptureQueriesContext(connection) as captured:
        assert sizes_of(a) == {"Gold": 3, "Germans": 1}
    assert not [one for one in captured if "contacts_fact(" in one["sql"]]
    assert not recount_segments()
    # Nobody asks for a newer number within a minute.
    Segment.objects.filter(name="Gold").update(counted_at=now() - timedelta(minutes=2))
    assert sizes_of(a)["Gold"] == 3
    assert recount_segments()
    assert not recount_segments()
    assert sizes_of(a)["Gold"] == 4
    changed = a.workspace_api.patch(f"/segments/{made['id']}", {"filter": {"attributes": {"plan": "none"}}})
    assert changed.json()["data"]["size"] == 0


def test_a_segment_that_is_counted_for_too_long_has_no_number_at_first(a: Tenant, monkeypatch: Any) -> None:
    monkeypatch.setattr(counting, "MOST_COUNTED_AT_ONCE", 2)
    monkeypatch.setattr(counting, "FIRST_COUNT_MS", 1)
    ContactFactory.create_batch(3, workspace=a.workspace, attributes={"plan": "gold"})
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MANY, [a.workspace.pk, 30_000])
    made = create(a, "Gold", attributes={"plan": "gold"}, created_before="2030-01-01T00:00:00Z")
    assert (made.status_code, made.json()["data"]["size"]) == (201, None)
    with CaptureQueriesContext(connection) as captured:
        assert sizes_of(a) == {"Gold": None}
    assert not [one for one in captured if "contacts_fact(" in one["sql"]]  # it is counted in the background by now
    monkeypatch.undo()
    assert recount_segments()
    assert sizes_of(a) == {"Gold": 3}


def test_what_was_counted_before_a_filter_was_changed_is_not_kept(a: Tenant, monkeypatch: Any) -> None:
    monkeypatch.setattr(counting, "MOST_COUNTED_AT_ONCE", 2)
    ContactFactory.create_batch(3, workspace=a.workspace, attributes={"plan": "gold"})
    made = create(a, "Gold", attributes={"plan": "gold"}).json()["data"]
    [stale] = Segment.objects.select_related("workspace")
    stale.counted_at = None  # as another request has read it before it was counted
    a.workspace_api.patch(f"/segments/{made['id']}", {"filter": {"attributes": {"plan": "none"}}})
    counting.attach_size(stale)
    assert sizes_of(a) == {"Gold": 0}

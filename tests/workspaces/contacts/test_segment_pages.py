"""A segment's conditions are rows of a form, which say exactly what the stored filter says."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, ContactFactory, SegmentFactory
from tests.same_changes.forms import form_at
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.contacts.dashboard import contacts
from workspaces.contacts.models import Segment
from workspaces.contacts.services import counting

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
NEW = "/app/segments/new"
EVERYTHING = {
    "tags_any": ["VIP", "Bern, Basel"],
    "tags_all": ["New"],
    "tags_none": ["Old"],
    "country": "DE",
    "timezone": "Singapore",
    "has_channel": "telegram",
    "attributes": {"plan": "gold", "note": "two\nlines", "empty": ""},
    "created_after": "2025-10-26T00:30:12.500000Z",
    "created_before": "2030-01-01T00:00:00Z",
}


@pytest.fixture
def customer(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def row(number: int, field: str, value: str, operator: str = "", name: str = "") -> dict[str, str]:
    parts = {"field": field, "operator": operator, "name": name, "value": value}
    return {f"row-{number}-{part}": given for part, given in parts.items()}


def form(*rows: dict[str, str], name: str = "Regulars", **more: str) -> dict[str, str]:
    return {"name": name, "rows": "1", **{part: value for one in rows for part, value in one.items()}, **more}


def page_of(segment: Segment) -> str:
    return f"/app/segments/{segment.uuid}"


def test_rows_become_the_filter_and_the_page_shows_them_again(customer: Client, a: Tenant) -> None:
    rows = (
        row(0, "tags", "VIP, New", "tags_any"),
        row(1, "tags", "Old", "tags_none"),
        row(2, "tags", "Sold", "tags_none"),
        row(3, "country", "DE"),
        row(4, "attributes", "gold", name="plan"),
        row(5, "created", "2026-01-01T12:00", "created_after"),
        row(6, "timezone", ""),
    )
    made = customer.post(NEW, form(*rows))
    segment = Segment.objects.get()
    assert made["Location"] == page_of(segment)
    a.workspace.refresh_from_db()
    assert segment.filter == {
        "tags_any": ["VIP", "New"],
        "tags_none": ["Old", "Sold"],
        "country": "DE",
        "attributes": {"plan": "gold"},
        "created_after": "2026-01-01T12:00:00Z",
    }
    shown = form_at(customer, page_of(segment))
    assert (shown["row-0-value"], shown["row-1-value"]) == (["VIP, New"], ["Old, Sold"])
    assert (shown["row-3-name"], shown["row-3-value"]) == (["plan"], ["gold"])


def test_a_filter_that_is_opened_and_saved_stays_as_it_is(customer: Client, a: Tenant) -> None:
    segment = SegmentFactory.create(workspace=a.workspace, filter=EVERYTHING)
    stored = segment.filter
    typed = form_at(customer, page_of(segment))
    assert customer.post(page_of(segment), {**typed, "name": ["Renamed"]}).status_code == 302
    segment.refresh_from_db()
    assert (segment.name, segment.filter) == ("Renamed", stored)
    # A form from before the rows, which sends the name alone, leaves the conditions as well.
    assert customer.post(page_of(segment), {"name": "Again"}).status_code == 302
    segment.refresh_from_db()
    assert (segment.name, segment.filter) == ("Again", stored)
    customer.post(page_of(segment), form())
    segment.refresh_from_db()
    assert segment.filter == {}


def test_a_segment_leads_to_its_contacts_and_to_a_broadcast(
    customer: Client, a: Tenant, django_assert_max_num_queries: Any
) -> None:
    assert b'name="segment"' not in customer.get("/app/contacts").content
    for name, known in (("Ada", {"tags": ["VIP"]}), ("Bob", {"tags": ["VIP"], "country": "DE"}), ("Eve", {})):
        ContactFactory.create(workspace=a.workspace, name=name, **known)
    segment = SegmentFactory.create(workspace=a.workspace, name="Regulars", filter={"tags_any": ["vip"]})
    ChannelFactory.create(workspace=a.workspace)
    shown = customer.get(page_of(segment))
    assert "Remove segment" in text(shown)
    found = f"/app/contacts?segment={segment.uuid}"
    composer = f"/app/broadcasts/new?segment={segment.uuid}"
    assert [f'href="{address}"' in shown.content.decode() for address in (found, composer)] == [True, True]
    with django_assert_max_num_queries(20):
        listed = customer.get(found)
    assert [row.name for row in listed.context["rows"]] == ["Bob", "Ada"]
    assert "Segment: Regulars" in text(listed)
    assert f'href="{page_of(segment)}"' in listed.content.decode()
    both = customer.get(f"{found}&search=ada")
    assert [row.name for row in both.context["rows"]] == ["Ada"]
    assert f'href="{found}" aria-label="2 contacts of Regulars"' in customer.get("/app/segments").content.decode()
    chosen = form_at(customer, composer)
    assert (chosen["audience"], chosen["audience_segment"]) == (["segment"], [str(segment.uuid)])


@pytest.mark.parametrize("most", [10_000, 25])
def test_a_filtered_list_matches_its_contacts_once(customer: Client, a: Tenant, monkeypatch: Any, most: int) -> None:
    """Of few contacts, all are read at once; a walk through all contacts could read a million to find them."""
    monkeypatch.setattr(contacts, "MOST_COUNTED", most)
    people = [ContactFactory.create(workspace=a.workspace, name=f"Ada {n}", tags=["VIP"]) for n in range(30)]
    ContactFactory.create(workspace=a.workspace, name="Bob", tags=["New"])
    ContactFactory.create(workspace=a.workspace, name="Ada Gold", attributes={"plan": "gold"})
    of_tags, of_details = (
        SegmentFactory.create(workspace=a.workspace, filter=given)
        for given in ({"tags_any": ["vip"]}, {"attributes": {"plan": "gold"}})
    )
    for asked in ("search=ada&tag=vip", f"search=ada&segment={of_tags.uuid}", f"segment={of_tags.uuid}"):
        with CaptureQueriesContext(connection) as ran:
            listed = customer.get(f"/app/contacts?{asked}&page=2")
        if most < len(people):
            assert [row.pk for row in listed.context["rows"]] == [one.pk for one in people[:4:-1]]
            assert "25+ of 32" in text(listed)
        else:
            assert [row.pk for row in listed.context["rows"]] == [one.pk for one in people[4::-1]]
            assert sum("LIKE" in one["sql"] for one in ran) == ("search" in asked)
            assert not any("contacts_fact(" in one["sql"] for one in ran)
    both = customer.get(f"/app/contacts?search=ada&segment={of_details.uuid}")
    assert [row.name for row in both.context["rows"]] == ["Ada Gold"]


def test_a_search_that_takes_too_long_says_so(customer: Client, a: Tenant, monkeypatch: Any) -> None:
    def slow(*_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")

    ContactFactory.create(workspace=a.workspace, name="Ada")
    monkeypatch.setattr(contacts, "LONGEST_MS", 1)
    monkeypatch.setattr(contacts, "newest_keys", slow)
    answer = customer.get("/app/contacts?search=zz")
    assert answer.status_code == 200
    assert "The search takes too long" in text(answer)
    assert "No contact matches" not in text(answer)
    assert 'value="zz"' in answer.content.decode()


def test_contacts_with_a_tag_become_a_segment(customer: Client, a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, tags=["VIP & more", "Bern, Basel"])
    new = f"{NEW}?tag=VIP%20%26%20more"
    for query, leads in (
        ("tag=VIP+%26+more", 1),
        ("tag=Bern%2C+Basel", 0),
        ("tag=VIP+%26+more&search=x", 0),
        ("tag=Old", 0),
    ):
        shown = customer.get(f"/app/contacts?{query}").content.decode()
        assert ((f'href="{new}"' in shown), "Save as a segment" in shown) == (leads, leads)
        assert ("Only you see this view. For broadcasts and your colleagues, save" in shown) == leads
    assert customer.get(f"{NEW}?tag=x%00{'y' * 99}").status_code == 200
    begun = form_at(customer, new)
    assert (begun["row-0-operator"], begun["row-0-value"]) == (["tags_any"], ["VIP & more"])
    SegmentFactory.create(workspace=a.workspace, filter={"tags_any": ["VIP & more", "Vipp"]})
    reader = agency_client(a.workspace, "viewer")
    assert b"Save as a segment" not in reader.get("/app/contacts?tag=VIP+%26+more").content
    assert "No contact has the tag Vipp." in text(customer.get(page_of(Segment.objects.get())))


def test_the_filter_by_tag_suggests_the_tags_and_says_that_none_has_one(customer: Client, a: Tenant) -> None:
    assert b"<datalist" not in customer.get("/app/contacts").content
    ContactFactory.create(tags=["Foreign"])
    ContactFactory.create(workspace=a.workspace, tags=['VIP "& more"', "New"])
    shown = customer.get("/app/contacts").content.decode()
    [before, *_] = shown.split("</datalist>")
    assert 'name="tag" value="" placeholder="" list="tag_suggestions"' in before
    assert before.endswith('<option value="New"></option><option value="VIP &quot;&amp; more&quot;"></option>')
    assert "Foreign" not in shown
    assert "No contact has the tag Vipp." in text(customer.get("/app/contacts?tag=Vipp"))
    for query in ("tag=new&search=nobody", "search=nobody", "tag=x%00"):
        refused = text(customer.get(f"/app/contacts?{query}"))
        assert ("No contact matches" in refused, "No contact has" in refused) == (True, False)


def test_a_segment_of_others_filters_nothing(customer: Client, a: Tenant) -> None:
    SegmentFactory.create(workspace=a.workspace)
    ContactFactory.create(workspace=a.workspace)
    for asked in (SegmentFactory.create().uuid, "x\x00"):
        shown = customer.get("/app/contacts", {"segment": str(asked)})
        assert "Segment not found." in text(shown)
        assert len(shown.context["rows"]) == 1
        assert customer.get("/app/broadcasts/new", {"segment": str(asked)}).status_code == 200


def test_buttons_add_remove_and_count_without_a_change(customer: Client, a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, tags=["VIP"], country="DE")
    ContactFactory.create(workspace=a.workspace, tags=["VIP"], attributes={"plan": "gold"})
    ContactFactory.create(workspace=a.workspace)
    rows = (row(0, "tags", "vip", "tags_all"), row(1, "country", "DE"))
    assert "Finds 3 of 3 contacts." in text(customer.get(NEW))
    assert "Finds 1 of 3 contacts." in text(customer.post(NEW, form(*rows, do="count")))
    removed = customer.post(NEW, form(*rows, do="remove-1"))
    assert "Finds 2 of 3 contacts." in text(removed)
    assert b"row-1-value" not in removed.content
    assert b'<option value="VIP">' in removed.content
    added = customer.post(NEW, form(*rows, do="add-attributes"))
    assert b'name="row-2-name"' in added.content
    assert b'<option value="plan">' in added.content
    # A contact has one country: the button is gone, and a second row is not read.
    assert b'value="add-country"' not in added.content
    twice = customer.post(NEW, form(*rows, row(2, "country", "FR"), do="count"))
    assert b"row-2-value" not in twice.content
    typed = (row(0, "tags", "vip, Vipp", "tags_any"), row(1, "tags", "vipp, O'Ld", "tags_none"))
    unknown = text(customer.post(NEW, form(*typed, do="count")))
    assert "Finds 2 of 3 contacts. No contact has any of these tags: Vipp, O'Ld." in unknown
    detail = (*rows[:1], row(1, "attributes", "gold", name="plan"))
    assert "Finds 1 of 3 contacts." in text(customer.post(NEW, form(*detail, do="count")))
    assert not Segment.objects.exists()


def test_a_count_that_takes_too_long_says_so(customer: Client, a: Tenant, monkeypatch: Any) -> None:
    ContactFactory.create(workspace=a.workspace)
    monkeypatch.setattr(counting, "FIRST_COUNT_MS", 1)
    monkeypatch.setattr(
        counting, "COUNT_CONTACTS", counting.COUNT_CONTACTS.replace("WHERE", "WHERE pg_sleep(1) IS NULL OR", 1)
    )
    answer = customer.post(NEW, form(row(0, "attributes", "gold", name="plan"), do="count"))
    assert "The number takes long to count." in text(answer)


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ((row(0, "tags", "A", "tags_any"), row(1, "tags", "B", "tags_any")), "Tags: This condition is there twice."),
        ((row(0, "attributes", "gold"),), "Name of the detail: Enter the name of the detail."),
        (
            (row(0, "attributes", "1", name="plan"), row(1, "attributes", "2", name="plan")),
            "This detail is there twice. Remove one of the two.",
        ),
        ((row(0, "country", "XX"),), "Country: Select a valid choice."),
        ((row(0, "tags", "A", "tags_some"),), "Condition: Select a valid choice."),
        ((row(0, "tags", "x" * 51, "tags_any"),), "Tags: Each entry of the tags any field may have at most 50"),
        ((row(0, "created", "soon", "created_after"),), "Date added: Enter a valid date/time."),
    ],
)
def test_a_row_that_says_nothing_clear_is_refused(
    customer: Client, rows: tuple[dict[str, str], ...], complaint: str
) -> None:
    refused = customer.post(NEW, form(*rows))
    assert refused.status_code == 422
    assert complaint in text(refused)
    assert "A condition is not complete." in text(refused)
    assert not Segment.objects.exists()
    assert "A condition is not complete." in text(customer.post(NEW, form(*rows, do="count")))


def test_rows_are_bounded_and_unknown_ones_are_left_out(customer: Client) -> None:
    many = [row(number, "attributes", str(number), name=f"detail {number}") for number in range(80)]
    shown = customer.post(NEW, form(*many, do="count"))
    assert shown.content.count(b'-value" value="') == 50
    strange = customer.post(NEW, form(row(0, "password", "x"), row(1, "country", "DE"), do="remove-99"))
    assert strange.status_code == 200
    assert b'name="row-0-value"' in strange.content
    assert b'name="row-1-value"' not in strange.content

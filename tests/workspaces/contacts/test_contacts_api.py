"""`/contacts`: made, read, found, changed, removed."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests import furnished
from tests.factories import ContactFactory, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.contacts import api
from workspaces.contacts.models import Contact, ContactCount
from workspaces.contacts.services import ChannelPerson, count_contacts, find_or_create_contacts
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
CARD = {
    "id", "name", "phone", "email", "tags", "timezone", "country", "attributes", "opted_out", "channels",
    "last_inbound_at", "created_at",
}  # fmt: skip


def create(a: Tenant, **values: Any) -> Any:
    return a.workspace_api.post("/contacts", values)


def created(a: Tenant, **values: Any) -> dict[str, Any]:
    answer = create(a, **values)
    assert answer.status_code == 201, answer.json()
    return dict(answer.json()["data"])


def names(a: Tenant, query: str = "") -> list[str]:
    return [one["name"] for one in a.workspace_api.get(f"/contacts{query}").json()["data"]]


def test_a_contact_is_kept_as_it_was_sent_and_completed_from_its_number(a: Tenant) -> None:
    card = created(
        a, name=" Ada ", phone="0049 (0)30-123 456", email="Ada@Example.com", tags=[" VIP", "vip", "New"],
        attributes={"plan": "gold"},
    )  # fmt: skip
    assert card.keys() == CARD
    assert (card["name"], card["phone"], card["email"]) == ("Ada", "+4930123456", "Ada@Example.com")
    assert (card["country"], card["timezone"], card["tags"]) == ("DE", "Europe/Berlin", ["VIP", "New"])
    assert (card["attributes"], card["opted_out"], card["last_inbound_at"]) == ({"plan": "gold"}, False, None)
    assert card["channels"] == {"whatsapp": None, "facebook": None, "instagram": None}
    assert a.workspace_api.get(f"/contacts/{card['id']}").json()["data"] == card


def test_a_zone_is_guessed_only_where_the_country_has_one_time(a: Tenant) -> None:
    assert (created(a, phone="+1 650 253 0000")["country"], created(a, phone="+12125550123")["timezone"]) == (
        "US",
        None,
    )
    given = created(a, phone="+4930123457", timezone="Asia/Tokyo", country="JP")
    assert (given["country"], given["timezone"]) == ("JP", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"phone": "030 123456"}, "phone"),
        ({"phone": "+49 30 call me"}, "phone"),
        ({"phone": "+999 123456"}, "phone"),
        ({"phone": "+493012345678901234"}, "phone"),
        ({"phone": 4930123456}, "phone"),
        ({}, "phone"),
        ({"email": "ada"}, "email"),
        ({"name": "x" * 201}, "name"),
        ({"name": "Ada", "tags": ["x" * 51]}, "tags.0"),
        ({"name": "Ada", "tags": [" "]}, "tags.0"),
        ({"name": "Ada", "tags": [str(number) for number in range(51)]}, "tags"),
        ({"name": "Ada", "timezone": "Berlin"}, "timezone"),
        ({"name": "Ada", "country": "XX"}, "country"),
        ({"name": "Ada", "attributes": {"plan": 1}}, "attributes.plan"),
        ({"name": "Ada", "attributes": {str(number): "" for number in range(51)}}, "attributes"),
        ({"name": "Ada", "opted_out": "yes"}, "opted_out"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(a: Tenant, values: dict[str, Any], field: str) -> None:
    answer = create(a, **values)
    assert answer.status_code == 422, answer.json()
    assert list(answer.json()["errors"]) == [field]
    assert Contact.objects.count() == 0


def test_no_two_contacts_have_one_address(a: Tenant, b: Tenant) -> None:
    card = created(a, phone="+4930123456", email="ada@example.com")
    assert create(a, phone="+49 30 123456").json()["errors"] == {"phone": ["Another contact has this phone number."]}
    same = create(a, email="ADA@example.com")
    assert same.json()["errors"] == {"email": ["Another contact has this e-mail address."]}
    other = created(a, name="Grace")
    path = f"/contacts/{other['id']}"
    assert a.workspace_api.patch(path, {"phone": card["phone"]}).status_code == 422
    created(b, phone="+4930123456", email="ada@example.com")


def test_changes_replace_what_was_sent_and_leave_the_rest(a: Tenant) -> None:
    card = created(a, name="Ada", phone="+4930123456", tags=["VIP"], attributes={"a": "1"})
    changes: dict[str, Any] = {"tags": ["New"], "attributes": {}, "phone": None, "opted_out": True}
    changed = a.workspace_api.patch(f"/contacts/{card['id']}", changes).json()["data"]
    assert changed == {**card, **changes}
    assert Contact.objects.get().opt_out_source == "api"
    assert a.workspace_api.patch(f"/contacts/{card['id']}", {"opted_out": False}).json()["data"]["opted_out"] is False


def test_a_contact_is_removed(a: Tenant) -> None:
    card = created(a, name="Ada")
    assert a.workspace_api.delete(f"/contacts/{card['id']}").json() == {"data": {"deleted": True}}
    assert a.workspace_api.get(f"/contacts/{card['id']}").json() == {"message": "Contact not found."}
    assert count_contacts(a.workspace) == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?search=ADA", ["Ada"]),
        ("?search=30123", ["Ada"]),
        ("?search=030 123", ["Ada"]),
        ("?search=example.com", ["Grace"]),
        ("?search=%25", []),
        ("?tag=vip", ["Ada"]),
        ("?tag=VI", []),
        ("?phone=%2B49 30 123456", ["Ada"]),
        ("?phone=030123456", []),
        ("?email=GRACE@example.com", ["Grace"]),
        ("?email=grace", []),
        ("?email=grace@example.com&tag=vip", []),
        ("", ["Grace", "Ada"]),
    ],
)
def test_contacts_are_found(a: Tenant, query: str, found: list[str]) -> None:
    created(a, name="Ada", phone="+4930123456", tags=["VIP"])
    created(a, name="Grace", email="grace@example.com")
    assert names(a, query) == found


@pytest.mark.parametrize("most", [10_000, 2])
def test_found_contacts_come_in_pages(a: Tenant, monkeypatch: Any, most: int) -> None:
    """The order is the same whether the database sorts them or we do."""
    monkeypatch.setattr(api, "MOST_SORTED", most)
    people = [created(a, name=f"Ada {number}", tags=["VIP"])["id"] for number in range(5)]
    created(a, name="Ada")
    for query in ("search=ada&tag=vip", "tag=vip&search=a"):
        pages = [a.workspace_api.get(f"/contacts?{query}&per_page=2&page={page}").json() for page in (1, 2, 3, 4)]
        assert [[one["id"] for one in page["data"]] for page in pages] == [
            people[:2:-1],
            people[2:0:-1],
            people[:1],
            [],
        ]
        assert {page["meta"]["total"] for page in pages} == {5}
    with CaptureQueriesContext(connection) as ran:
        assert a.workspace_api.get("/contacts?search=zz").json()["data"] == []
    assert sum("LIKE" in one["sql"] for one in ran) == 1  # of nobody, only the count is asked


def test_a_page_takes_three_statements_and_tells_who_they_are_on_their_channels(
    a: Tenant, django_assert_max_num_queries: Any
) -> None:
    people = [
        ChannelPerson(channel_id=a.channel.pk, workspace_id=a.workspace.pk, external_id=f"wa-{number}")
        for number in range(40)
    ]
    with transaction.atomic():
        find_or_create_contacts(people=people, now=now())
    names(a)
    with django_assert_max_num_queries(5):  # the switch, the key, the rows, their identities, the count
        page = a.workspace_api.get("/contacts?per_page=30&page=2").json()
    assert [one["channels"]["whatsapp"] for one in page["data"]] == [f"wa-{number}" for number in range(9, -1, -1)]
    assert page["meta"]["total"] == 40


def test_one_contact_becomes_part_of_another(a: Tenant) -> None:
    kept = created(a, name="Ada", tags=["VIP"], attributes={"a": "1"})
    gone = created(
        a, name="A. L.", phone="+4930123456", tags=["vip", "New"], attributes={"a": "2", "b": "3"}, opted_out=True
    )
    merged = a.workspace_api.post(f"/contacts/{kept['id']}/merge", {"contact": gone["id"]})
    assert merged.status_code == 200
    card = merged.json()["data"]
    assert (card["name"], card["phone"], card["tags"]) == ("Ada", "+4930123456", ["VIP", "New"])
    assert (card["attributes"], card["opted_out"]) == ({"a": "1", "b": "3"}, True)
    assert a.workspace_api.get(f"/contacts/{gone['id']}").status_code == 404
    itself = a.workspace_api.post(f"/contacts/{kept['id']}/merge", {"contact": kept["id"]})
    assert itself.json()["errors"] == {"contact": ["A contact cannot be merged with itself."]}
    again = a.workspace_api.post(f"/contacts/{kept['id']}/merge", {"contact": gone["id"]})
    assert (again.status_code, again.json()) == (404, {"message": "Contact not found."})


def test_people_who_write_are_taken_past_the_plans_limit(a: Tenant) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=plan_limits(contacts=1))
    created(a, name="Ada")
    refused = create(a, name="Grace")
    assert refused.json()["errors"] == {"contacts": ["The plan of this sub-account allows 1 contact."]}
    person = ChannelPerson(channel_id=a.channel.pk, workspace_id=a.workspace.pk, external_id="wa-1")
    with transaction.atomic():
        find_or_create_contacts(people=[person], now=now())
    assert a.api.get(f"/workspaces/{a.workspace.uuid}/usage").json()["data"]["contacts"] == {"used": 2, "limit": 1}


@pytest.mark.django_db(transaction=True)
def test_exactly_as_many_as_the_plan_allows_are_made_at_once(a: Tenant) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=plan_limits(contacts=7))
    answers = at_once(lambda number: create(a, name=f"Contact {number}").status_code, times=20, threads=5)
    assert sorted(answers) == [201] * 7 + [422] * 13
    assert Contact.objects.count() == 7 == count_contacts(a.workspace)


def test_many_counts_become_one(a: Tenant) -> None:
    made = [ContactFactory.create(workspace=a.workspace) for _ in range(70)]
    assert ContactCount.objects.count() < 40
    made[0].delete()
    Contact.objects.filter(pk__in=[one.pk for one in made[1:11]]).delete()
    assert count_contacts(a.workspace) == 59


@pytest.mark.parametrize(
    ("given", "change", "field"),
    [
        ({"name": "Ada"}, {"name": None}, "name"),
        ({"name": "Ada"}, {"name": ""}, "name"),
        ({"name": "Ada", "phone": "+4915112345678"}, {"name": None, "phone": None}, "name"),
        ({"email": "ada@example.com"}, {"email": None, "tags": ["VIP"]}, "email"),
    ],
)
def test_a_change_leaves_nobody_without_name_phone_and_email(
    a: Tenant, given: dict[str, Any], change: dict[str, Any], field: str
) -> None:
    made = a.workspace_api.post("/contacts", given).json()["data"]
    answer = a.workspace_api.patch(f"/contacts/{made['id']}", change)
    told = {field: ["A contact needs a name, a phone number or an e-mail address."]}
    assert (answer.status_code, answer.json()["errors"]) == (422, told)
    assert a.workspace_api.get(f"/contacts/{made['id']}").json()["data"] == made


def test_who_is_known_by_a_network_alone_can_be_changed(a: Tenant) -> None:
    contact = Contact.objects.create(workspace=a.workspace, name="", search_key="")
    answer = a.workspace_api.patch(f"/contacts/{contact.uuid}", {"tags": ["VIP"], "phone": None})
    assert (answer.status_code, answer.json()["data"]["tags"]) == (200, ["VIP"])

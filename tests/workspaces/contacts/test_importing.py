"""`POST /contacts/import`: contacts by the thousand, each made or changed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import phonenumbers
import pytest
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now
from phonenumbers import PhoneNumberFormat

from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ContactFactory, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from workspaces.contacts.models import Contact
from workspaces.contacts.services import import_contacts
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
ROUNDS = 25
NO_PHONE = "The phone field must be a phone number with its country code such as +49 30 1234567."


def send(a: Tenant, *rows: Any) -> dict[str, Any]:
    answer = a.workspace_api.post("/contacts/import", {"contacts": rows})
    assert answer.status_code == 200, answer.json()
    return dict(answer.json()["data"])


def contact(a: Tenant, **found_by: Any) -> dict[str, Any]:
    row = Contact.objects.of(a.workspace).get(**found_by)
    return dict(a.workspace_api.get(f"/contacts/{row.uuid}").json()["data"])


def test_rows_make_contacts_and_change_those_with_their_address(a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, name="Ada", phone="+4930123456", tags=["VIP"], attributes={"a": "1"})
    ContactFactory.create(workspace=a.workspace, name="Grace", email="grace@example.com")
    result = send(
        a,
        {"phone": "0049 30 123456", "email": "ada@example.com", "tags": ["vip", "New"], "attributes": {"b": "2"}},
        {"email": "GRACE@example.com", "phone": "+1 650 253 0000", "name": ""},
        {"phone": "+49 30 999999", "name": "Linus", "opted_out": True, "unknown": [1]},
    )
    assert result == {"created": 1, "updated": 2, "errors": []}
    ada = contact(a, phone="+4930123456")
    assert (ada["name"], ada["email"], ada["tags"]) == ("Ada", "ada@example.com", ["VIP", "New"])
    assert ada["attributes"] == {"a": "1", "b": "2"}
    grace = contact(a, phone="+16502530000")
    assert (grace["name"], grace["email"], grace["country"]) == ("Grace", "GRACE@example.com", "US")
    linus = contact(a, name="Linus")
    assert (linus["opted_out"], linus["timezone"]) == (True, "Europe/Berlin")
    assert Contact.objects.get(name="Linus").opt_out_source == "import"


def test_each_row_that_cannot_be_taken_is_told_and_the_others_are_taken(a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, name="Ada", phone="+4930123456", email="ada@example.com")
    ContactFactory.create(workspace=a.workspace, name="Grace", phone="+4930123457")
    result = send(
        a,
        {"phone": "030", "email": "nobody", "tags": ["", 1]},
        {"name": "Nobody"},
        "Ada",
        None,
        {"phone": "+4930123457", "email": "ada@example.com"},
        {"phone": "+4930123459"},
    )
    assert (result["created"], result["updated"]) == (1, 0)
    assert result["errors"] == [
        {
            "index": 0,
            "errors": {
                "phone": [NO_PHONE],
                "email": ["The email field must be a valid e-mail address."],
                "tags.0": ["Each entry of the tags field is required."],
            },
        },
        {"index": 1, "errors": {"phone": ["A row needs a phone number or an e-mail address."]}},
        {"index": 2, "errors": {"contacts": ["Each entry of the contacts field must be an object."]}},
        {"index": 3, "errors": {"contacts": ["Each entry of the contacts field must be an object."]}},
        {"index": 4, "errors": {"email": ["Another contact has this e-mail address."]}},
    ]


def test_the_same_person_in_several_rows_is_one_contact(a: Tenant) -> None:
    result = send(
        a,
        {"phone": "+4930123456", "name": "A", "tags": ["one"]},
        {"phone": "+49 30 123456", "email": "ada@example.com", "tags": ["two"]},
        {"email": "ADA@example.com", "name": "Ada"},
        {"phone": "+4930123457", "email": "ada@example.com"},
    )
    assert result == {"created": 1, "updated": 3, "errors": []}
    card = contact(a)
    assert (card["name"], card["tags"], card["phone"]) == ("Ada", ["one", "two"], "+4930123457")


def test_each_row_is_judged_as_if_it_came_alone(a: Tenant) -> None:
    """No row takes another down with which it shares an address."""
    ContactFactory.create(workspace=a.workspace, name="Eve", phone="+4930123450", email="eve@example.com")
    ContactFactory.create(workspace=a.workspace, name="Grace", phone="+4930123451")
    rows = [
        {"email": "eve@example.com", "tags": ["VIP"]},
        {"phone": "+4930123450", "email": "eve@example.com", "attributes": {"plan": "gold"}},
        {"phone": "+4930123451", "email": "eve@example.com"},
        {"phone": "+4930123459", "email": "eve@example.com", "name": "Eve L."},
    ]
    assert send(a, *rows) == {
        "created": 0,
        "updated": 3,
        "errors": [{"index": 2, "errors": {"email": ["Another contact has this e-mail address."]}}],
    }
    eve = contact(a, email="eve@example.com")
    assert (eve["name"], eve["phone"], eve["tags"], eve["attributes"]) == (
        "Eve L.", "+4930123459", ["VIP"], {"plan": "gold"},
    )  # fmt: skip


def test_an_address_that_a_row_frees_is_free_for_the_next_ones(a: Tenant) -> None:
    """Also where contacts pass their addresses on in a circle, in whatever order they are written."""
    for number, name in enumerate(("ada", "eve")):
        ContactFactory.create(
            workspace=a.workspace, name=name, phone=f"+493012345{number}", email=f"{name}@example.com"
        )
    result = send(
        a,
        {"phone": "+4930123450", "email": "new@example.com"},  # Ada's is free now
        {"phone": "+4930123451", "email": "ada@example.com"},  # and Eve's is hers
        {"phone": "+4930123450", "email": "eve@example.com"},  # so that Ada can have Eve's
        {"email": "new@example.com", "name": "New"},
        {"phone": "+4930123455", "email": "new@example.com"},
        {"phone": "+4930123456", "email": "new@example.com"},
        {"phone": "+4930123455", "name": "Newer"},
    )
    assert result == {"created": 2, "updated": 5, "errors": []}
    assert contact(a, name="ada")["email"] == "eve@example.com"
    assert contact(a, name="eve")["email"] == "ada@example.com"
    assert (contact(a, name="New")["phone"], contact(a, name="Newer")["email"]) == ("+4930123456", None)


def test_together_rows_become_what_they_become_one_by_one(a: Tenant, b: Tenant) -> None:
    """Any rows over a few addresses: the same contacts and the same refusals."""
    chance = Random(7)
    phones, emails = [None, *(f"+493012345{n}" for n in range(4))], [None, *(f"{n}@example.com" for n in range(4))]
    for _ in range(ROUNDS):
        rows = [
            {"phone": chance.choice(phones), "email": chance.choice(emails), "name": f"{number}", "tags": [f"{number}"]}
            for number in range(chance.randint(2, 12))
        ]
        for tenant in (a, b):
            import_contacts(workspace=tenant.workspace, rows=rows[:3], now=now())
        alone = [import_contacts(workspace=b.workspace, rows=[row], now=now()) for row in rows]
        together = import_contacts(workspace=a.workspace, rows=rows, now=now())
        assert together.created == sum(one.created for one in alone)
        assert together.updated == sum(one.updated for one in alone)
        assert [(error.index, error.errors) for error in together.errors] == [
            (number, error.errors) for number, one in enumerate(alone) for error in one.errors
        ]
        assert cards(a) == cards(b)
        Contact.objects.all().delete()


def cards(a: Tenant) -> list[Any]:
    return sorted(Contact.objects.of(a.workspace).values_list("name", "phone", "email", "tags", "search_key"))


def test_numbers_of_every_country_are_read_as_the_library_reads_them(a: Tenant) -> None:
    """Most are read without it, which is much faster."""
    examples = [phonenumbers.example_number(region) for region in sorted(phonenumbers.SUPPORTED_REGIONS)]
    written = {phonenumbers.format_number(one, PhoneNumberFormat.INTERNATIONAL): one for one in examples if one}
    assert send(a, *({"phone": text, "name": text} for text in written))["errors"] == []
    kept = {
        name: (phone, country)
        for name, phone, country in Contact.objects.of(a.workspace).values_list("name", "phone", "country")
    }
    assert kept == {
        text: (phonenumbers.format_number(number, PhoneNumberFormat.E164), phonenumbers.region_code_for_number(number))
        for text, number in written.items()
    }


def test_addresses_are_taken_as_the_validator_takes_them(a: Tenant) -> None:
    """Most are taken without it, which is faster."""
    local = ["ada", "Ada.L+x_y-z", ".ada", "ada.", "a..b", "a b", '"a b"', "o'hara", "\u212a", "a" * 64, "a" * 230]
    domains = ["example.com", "a.b.Example.CO", "-a.com", "a-.com", "a.c", "a.b-c", "localhost", "1.2.3.4", "a_b.com"]
    domains += ["\u00e4.com", "a..com", f"{'a' * 63}.com", f"{'a' * 64}.com", "example.com.", "a.b.c.d.e.f.g.h.i.com"]
    asked = [f"{name}@{domain}" for name in local for domain in domains]
    told = send(a, *({"email": address} for address in asked))
    refused = {asked[error["index"]] for error in told["errors"]}
    assert refused == {address for address in asked if not _is_taken(address)}
    assert 30 < len(refused) < len(asked) - 30


def _is_taken(address: str) -> bool:
    try:
        validate_email(address)
    except ValidationError:
        return False
    return len(address) <= 254 and address.rpartition("@")[0].isascii() and '"' not in address


def test_a_row_that_names_two_other_rows_people_is_refused_alone(a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, phone="+4930123450")
    ContactFactory.create(workspace=a.workspace, phone="+4930123451")
    result = send(
        a,
        {"phone": "+4930123450"},
        {"phone": "+4930123451", "email": "grace@example.com"},
        {"phone": "+4930123450", "email": "grace@example.com"},
    )
    assert (result["created"], result["updated"]) == (0, 2)
    assert [(error["index"], list(error["errors"])) for error in result["errors"]] == [(2, ["email"])]
    assert Contact.objects.get(email="grace@example.com").phone == "+4930123451"


def test_nothing_of_a_refused_row_is_written_with_another(a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, name="Ada", phone="+4930123450", email="ada@example.com")
    result = send(
        a,
        {"phone": "+4930123450", "name": "Ada L."},
        {"phone": "+4930123450", "tags": [f"Tag {number}" for number in range(50)]},
        {"phone": "+4930123459", "email": "ada@example.com", "name": "Refused", "tags": ["One more"]},
        {"email": "ada@example.com", "attributes": {"Shoe size": "38"}},
    )
    assert [error["index"] for error in result["errors"]] == [2]
    ada = contact(a, phone="+4930123450")
    assert (ada["name"], len(ada["tags"]), ada["attributes"]) == ("Ada L.", 50, {"Shoe size": "38"})


def test_rows_past_the_plans_limit_are_told_and_known_contacts_still_change(a: Tenant) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=plan_limits(contacts=2))
    send(a, {"phone": "+4930123450", "name": "Ada"})
    result = send(
        a, *[{"phone": f"+493012345{number}", "name": "New"} for number in range(4)], {"phone": "+4930123450"}
    )
    assert (result["created"], result["updated"]) == (1, 2)
    assert [error["index"] for error in result["errors"]] == [2, 3]
    assert result["errors"][0]["errors"] == {"contacts": ["The plan of this sub-account allows 2 contacts."]}


def test_a_thousand_rows_take_a_few_statements(a: Tenant) -> None:
    rows = [{"phone": f"+49301{number:06d}", "name": f"Contact {number}", "tags": ["VIP"]} for number in range(1000)]
    send(a, *rows[:1])
    for expected in ({"created": 999, "updated": 1}, {"created": 0, "updated": 1000}):
        with CaptureQueriesContext(connection) as queries:
            assert send(a, *rows) == {**expected, "errors": []}
        assert len(queries) <= 14
    logged = [entry.details for entry in ActivityEntry.objects.filter(action="contact.imported").order_by("id")]
    assert logged[1:] == [{"created": 999, "updated": 1, "refused": 0}, {"created": 0, "updated": 1000, "refused": 0}]
    assert a.workspace_api.post("/contacts/import", {"contacts": [*rows, {}]}).status_code == 422
    assert a.workspace_api.post("/contacts/import", {"contacts": []}).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_the_same_rows_at_once_make_each_contact_once(a: Tenant) -> None:
    rows = [{"phone": f"+49301{number:06d}", "email": f"{number}@example.com"} for number in range(60)]
    results = at_once(lambda number: send(a, *(reversed(rows) if number % 2 else rows)), times=4)
    assert sum(result["created"] for result in results) == 60 == Contact.objects.count()
    assert sum(result["updated"] for result in results) == 180


@pytest.mark.django_db(transaction=True)
def test_somebody_who_writes_for_the_first_time_meanwhile_is_found(a: Tenant) -> None:
    """The import waits for the row that makes them, and then begins anew with what is there."""
    rows = [{"phone": "+4930123450", "name": "Ada"}, {"phone": "+4930123451", "email": "eve@example.com"}]
    send(a, {"phone": "+4930123459", "name": "Somebody"})
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Contact.objects.create(workspace=a.workspace, phone="+4930123451", name="Eve", search_key="eve")
            result = pool.submit(in_thread, lambda: send(a, *rows))
            wait_for_lock()
        assert result.result(PATIENCE_SECONDS) == {"created": 1, "updated": 1, "errors": []}
    assert (contact(a, name="Eve")["email"], contact(a, name="Ada")["phone"]) == ("eve@example.com", "+4930123450")


def in_thread(work: Callable[[], Any]) -> Any:
    try:
        return work()
    finally:
        connections.close_all()

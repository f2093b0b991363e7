"""`POST /contacts/import`: contacts by the thousand, each made or changed."""

from typing import Any

import phonenumbers
import pytest
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import connection
from django.test.utils import CaptureQueriesContext
from phonenumbers import PhoneNumberFormat

from tests.factories import ContactFactory, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
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
        {"phone": "+4930123458", "email": "ada@example.com"},
        {"phone": "+4930123459"},
    )
    assert (result["created"], result["updated"]) == (1, 0)
    taken = {"email": ["Another contact has this e-mail address."]}
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
        {"index": 4, "errors": taken},
        {"index": 5, "errors": taken},
    ]


def test_the_same_person_in_several_rows_is_one_contact(a: Tenant) -> None:
    result = send(
        a,
        {"phone": "+4930123456", "name": "A", "tags": ["one"]},
        {"phone": "+49 30 123456", "email": "ada@example.com", "tags": ["two"]},
        {"email": "ADA@example.com", "name": "Ada"},
        {"phone": "+4930123457", "email": "ada@example.com"},
    )
    assert (result["created"], result["updated"], len(result["errors"])) == (1, 2, 1)
    card = contact(a)
    assert (card["name"], card["tags"], card["phone"]) == ("Ada", ["one", "two"], "+4930123456")


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
        text: (
            phonenumbers.format_number(number, PhoneNumberFormat.E164),
            phonenumbers.region_code_for_number(number),
        )
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
        {"phone": "+4930123450", "name": "Refused"},
        {"phone": "+4930123450", "tags": [f"Tag {number}" for number in range(50)]},
        {"phone": "+4930123450", "tags": ["One more"]},
        {"email": "ada@example.com", "attributes": {"Shoe size": "38"}},
    )
    assert [error["index"] for error in result["errors"]] == [0, 1, 2]
    ada = contact(a, phone="+4930123450")
    assert (ada["name"], ada["tags"], ada["attributes"]) == ("Ada", [], {"Shoe size": "38"})


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
        assert len(queries) <= 13
    assert a.workspace_api.post("/contacts/import", {"contacts": [*rows, {}]}).status_code == 422
    assert a.workspace_api.post("/contacts/import", {"contacts": []}).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_the_same_rows_at_once_make_each_contact_once(a: Tenant) -> None:
    rows = [{"phone": f"+49301{number:06d}", "email": f"{number}@example.com"} for number in range(60)]
    results = at_once(lambda number: send(a, *(reversed(rows) if number % 2 else rows)), times=4)
    assert sum(result["created"] for result in results) == 60 == Contact.objects.count()
    assert sum(result["updated"] for result in results) == 180

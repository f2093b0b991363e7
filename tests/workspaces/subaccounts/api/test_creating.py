"""`POST /workspaces`: a sub-account with its owner."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import unlimited
from agency.services import archive_item
from tests.database.traces import traces
from tests.factories import PlanFactory, plan_limits
from tests.tenants import Tenant, a_new_customer, message
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType

FIELDS = [
    "uuid", "name", "status", "plan", "owner", "business_type", "timezone", "created_at", "suspended_at",
    "external_id", "metadata",
]  # fmt: skip


def test_the_answer_is_201_with_the_sub_account(a: Tenant) -> None:
    owner = {"name": "Ada Lovelace", "email": "ada@example.com"}
    body = {"name": "Corner Salon", "business_type": "salon_spa", "timezone": "Europe/Berlin"}
    response = a.api.post("/workspaces", body | {"owner": owner, "plan": str(a.plan.uuid)})
    row = Workspace.objects.of(a.agency).get()
    assert response.status_code == 201
    assert response.json() == {
        "data": {
            "uuid": str(row.uuid),
            "name": "Corner Salon",
            "status": "active",
            "plan": {"uuid": str(a.plan.uuid), "name": a.plan.name},
            "owner": owner,
            "business_type": "salon_spa",
            "timezone": "Europe/Berlin",
            "created_at": row.created_at.isoformat().replace("+00:00", "Z"),
            "suspended_at": None,
            "external_id": None,
            "metadata": {},
        }
    }
    assert list(response.json()["data"]) == FIELDS


def test_only_name_and_owner_are_needed(a: Tenant) -> None:
    sub_account = a.api.post("/workspaces", a_new_customer()).json()["data"]
    assert (sub_account["plan"], sub_account["business_type"], sub_account["timezone"]) == (None, None, "UTC")
    assert Workspace.objects.get(uuid=sub_account["uuid"]).limits == unlimited()


def test_null_is_as_good_as_leaving_the_choice_out(a: Tenant) -> None:
    response = a.api.post("/workspaces", a_new_customer(plan=None, business_type=None, timezone=None))
    assert response.status_code == 201
    assert response.json()["data"]["timezone"] == "UTC"


def test_the_new_sub_account_reads_back_as_it_was_answered(a: Tenant) -> None:
    sub_account = a.api.post("/workspaces", a_new_customer(plan=str(a.plan.uuid))).json()["data"]
    detail = a.api.get(f"/workspaces/{sub_account['uuid']}").json()["data"]
    assert {name: detail[name] for name in sub_account} == sub_account
    assert a.api.get("/workspaces").json()["data"] == [sub_account]


def test_the_plan_s_limits_are_copied(a: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=10, channels__whatsapp=2))
    sub_account = a.api.post("/workspaces", a_new_customer(plan=str(plan.uuid).upper())).json()["data"]
    limits = a.api.get(f"/workspaces/{sub_account['uuid']}").json()["data"]["limits"]
    assert limits == plan_limits(contacts=10, channels__whatsapp=2)


@pytest.mark.parametrize("business_type", BusinessType.values)
def test_every_business_type_is_taken(a: Tenant, business_type: str) -> None:
    response = a.api.post("/workspaces", a_new_customer(business_type=business_type))
    assert response.json()["data"]["business_type"] == business_type


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/Argentina/Buenos_Aires", "Pacific/Kiritimati"])
def test_every_iana_zone_is_taken(a: Tenant, zone: str) -> None:
    assert a.api.post("/workspaces", a_new_customer(timezone=zone)).json()["data"]["timezone"] == zone


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("  Corner Salon \t", "Corner Salon"),
        ("Zoë's Café & Spa <b>", "Zoë's Café & Spa <b>"),
        ("💇 サロン", "💇 サロン"),
        ("x" * 120, "x" * 120),
        (" " * 50 + "x" * 120, "x" * 120),
        ("ﷺ" * 120, "ﷺ" * 120),
    ],
)
def test_a_name_is_kept_as_it_was_written_without_the_blanks_around_it(a: Tenant, sent: str, kept: str) -> None:
    response = a.api.post("/workspaces", a_new_customer(name=sent))
    assert (response.status_code, response.json()["data"]["name"]) == (201, kept)


def test_two_sub_accounts_may_have_the_same_name(a: Tenant) -> None:
    assert [a.api.post("/workspaces", a_new_customer()).status_code for _ in range(2)] == [201, 201]


def without(body: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != field}


def with_owner(**changes: Any) -> dict[str, Any]:
    return a_new_customer(owner={"name": "Ada", "email": "ada@example.com"} | changes)


REFUSED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "no name": (without(a_new_customer(), "name"), {"name": "The name field is required."}),
    "a blank name": (a_new_customer(name="  "), {"name": "The name field is required."}),
    "an unseen name": (a_new_customer(name="\u200b\u2060"), {"name": "The name field is required."}),
    "a null name": (a_new_customer(name=None), {"name": "The name field is required."}),
    "a name of a number": (a_new_customer(name=7), {"name": "The name field must be a string."}),
    "a name too long": (a_new_customer(name="x" * 121), {"name": "The name field may have at most 120 characters."}),
    "a name with a line break": (
        a_new_customer(name="a\nb"),
        {"name": "The name field must not contain control characters."},
    ),
    "a name with a NUL": (
        a_new_customer(name="a\0b"),
        {"name": "The name field holds characters that cannot be stored."},
    ),
    "a name with half a character": (
        a_new_customer(name="a\ud800"),
        {"name": "The name field holds characters that cannot be stored."},
    ),
    "no owner": (without(a_new_customer(), "owner"), {"owner": "The owner field is required."}),
    "an owner of null": (a_new_customer(owner=None), {"owner": "The owner field is required."}),
    "an owner of a string": (a_new_customer(owner="Ada"), {"owner": "The owner field must be an object."}),
    "an owner of a list": (a_new_customer(owner=[]), {"owner": "The owner field must be an object."}),
    "an owner without anything": (
        a_new_customer(owner={}),
        {"owner.name": "The owner.name field is required.", "owner.email": "The owner.email field is required."},
    ),
    "an owner's name too long": (
        with_owner(name="x" * 121),
        {"owner.name": "The owner.name field may have at most 120 characters."},
    ),
    "no address": (with_owner(email="ada"), {"owner.email": "The owner.email field must be a valid e-mail address."}),
    "two addresses": (
        with_owner(email="a@example.com,b@example.com"),
        {"owner.email": "The owner.email field must be a valid e-mail address."},
    ),
    "an address that becomes another in lower case": (
        with_owner(email="\u212aim@example.com"),
        {"owner.email": "The owner.email field must be a valid e-mail address."},
    ),
    "an address with a header in it": (
        with_owner(email="a@example.com\r\nBcc: b@example.com"),
        {"owner.email": "The owner.email field must not contain control characters."},
    ),
    "a plan that is no uuid": (a_new_customer(plan="growth"), {"plan": "The plan field must be a uuid."}),
    "a plan of a number": (a_new_customer(plan=1), {"plan": "The plan field must be a uuid."}),
    "a plan of an object": (a_new_customer(plan={"uuid": str(uuid4())}), {"plan": "The plan field must be a uuid."}),
    "an unknown business type": (
        a_new_customer(business_type="bakery"),
        {"business_type": f"The business type field must be one of: {', '.join(BusinessType.values)}."},
    ),
    "an unknown zone": (
        a_new_customer(timezone="Mars/Olympus"),
        {"timezone": "The timezone field must be an IANA time zone such as Europe/Berlin."},
    ),
    "a zone that is a path": (
        a_new_customer(timezone="../../etc/passwd"),
        {"timezone": "The timezone field must be an IANA time zone such as Europe/Berlin."},
    ),
}


@pytest.mark.parametrize(("body", "errors"), REFUSED.values(), ids=REFUSED.keys())
def test_422_names_the_field_and_leaves_nothing(a: Tenant, body: dict[str, Any], errors: dict[str, str]) -> None:
    before = traces()
    response = a.api.post("/workspaces", body)
    assert response.status_code == 422
    assert response.json()["errors"] == {field: [sentence] for field, sentence in errors.items()}
    assert traces() == before


def test_422_message_is_the_first_sentence_and_how_many_more(a: Tenant) -> None:
    one = a.api.post("/workspaces", a_new_customer(name=""))
    two = a.api.post("/workspaces", a_new_customer(name="", timezone="x"))
    four = a.api.post("/workspaces", {"owner": {}, "plan": 1})
    assert message(one) == "The name field is required."
    assert message(two) == "The name field is required. (and 1 more error)"
    assert message(four) == "The name field is required. (and 3 more errors)"


def test_an_unknown_plan_is_404(a: Tenant) -> None:
    before = traces()
    response = a.api.post("/workspaces", a_new_customer(plan=str(uuid4())))
    assert (response.status_code, response.json()) == (404, {"message": "Plan not found."})
    assert traces() == before


def test_a_plan_of_another_agency_is_404_and_an_archived_one_too(a: Tenant, b: Tenant) -> None:
    archived = PlanFactory.create(agency=a.agency)
    archive_item(item=archived, now=now(), by=SYSTEM)
    for plan in (b.plan, archived):
        before = traces()
        response = a.api.post("/workspaces", a_new_customer(plan=str(plan.uuid)))
        assert (response.status_code, response.json()) == (404, {"message": "Plan not found."})
        assert traces() == before


def test_what_the_service_decides_is_ignored_in_the_body(a: Tenant, b: Tenant) -> None:
    forced = {
        "id": 1,
        "uuid": str(uuid4()),
        "agency": b.agency.pk,
        "agency_id": b.agency.pk,
        "status": "suspended",
        "suspended_at": "2020-01-01T00:00:00Z",
        "limits": {"contacts": 0},
        "plan_limits": {"contacts": 0},
        "plan_id": b.plan.pk,
        "owner_id": 1,
        "owner_email": "x@example.com",
        "created_at": "2020-01-01T00:00:00Z",
        "name_key": "zzz",
        "__class__": "Workspace",
        "name__in": ["x"],
    }
    owner = {"name": "Ada", "email": "ada@example.com", "is_staff": True, "is_superuser": True, "password": "x"}
    sub_account = a.api.post("/workspaces", a_new_customer(owner=owner) | forced).json()["data"]
    row = Workspace.objects.select_related("owner").get(uuid=sub_account["uuid"])
    assert sub_account["uuid"] != forced["uuid"]
    assert (row.agency_id, row.status, row.suspended_at, row.plan_id) == (a.agency.pk, "active", None, None)
    assert (row.limits, row.plan_limits, row.name_key) == (unlimited(), None, "corner salon")
    assert abs((now() - row.created_at).total_seconds()) < 60
    assert (row.owner.is_staff, row.owner.is_superuser, row.owner.has_usable_password()) == (False, False, False)


def test_the_agency_s_own_number_of_sub_accounts_is_kept(a: Tenant, b: Tenant) -> None:
    for _ in range(3):
        a.api.post("/workspaces", a_new_customer())
    a.agency.refresh_from_db()
    b.agency.refresh_from_db()
    assert (a.agency.sub_account_count, b.agency.sub_account_count) == (3, 0)

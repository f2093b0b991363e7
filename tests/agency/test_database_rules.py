"""What the database itself refuses, whatever the code above it does."""

import hashlib
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils.timezone import now

from agency.models import ActivityEntry, Addon, Agency, AgencyKey, Brand, MailSettings, Member, Plan, User
from tests.factories import AgencyFactory, MemberFactory, PlanFactory, UserFactory, an_agency_key

pytestmark = pytest.mark.django_db


def refused(statement: str, values: list[Any], error: type[DatabaseError] = IntegrityError) -> str:
    """Run a statement that must be refused, and give the reason."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(error) as found, transaction.atomic():
            cursor.execute(statement, values)
    return str(found.value)


def test_activity_is_neither_changed_nor_deleted() -> None:
    AgencyFactory.create()
    entry = ActivityEntry.objects.get()
    assert "only ever added" in refused("UPDATE agency_activityentry SET action = 'x' WHERE id = %s", [entry.pk])
    assert "only ever added" in refused("DELETE FROM agency_activityentry WHERE id = %s", [entry.pk])
    assert ActivityEntry.objects.filter(pk=entry.pk).exists()


def test_activity_is_never_emptied() -> None:
    """The tests' own clean-up has this trigger switched off; here it is on, as everywhere else."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agency_activityentry ENABLE TRIGGER activity_is_never_emptied")
    assert "only ever added" in refused("TRUNCATE agency_activityentry", [])


@pytest.mark.parametrize("length", [0, 31, 33])
def test_the_hash_of_a_key_has_32_bytes(length: int) -> None:
    key, _ = an_agency_key(AgencyFactory.create())
    assert "agency_key_hash_is_sha256" in refused(
        "UPDATE agency_agencykey SET key_hash = %s WHERE id = %s", [b"x" * length, key.pk]
    )


def test_two_keys_never_share_a_hash() -> None:
    agency = AgencyFactory.create()
    digest = hashlib.sha256(b"x").digest()
    AgencyKey.objects.create(agency=agency, name="One", key_hash=digest, prefix="svc_ag_12345")
    with pytest.raises(IntegrityError), transaction.atomic():
        AgencyKey.objects.create(agency=agency, name="Two", key_hash=digest, prefix="svc_ag_12345")


@pytest.mark.parametrize(
    "change", [{"status": "suspended"}, {"suspended_at": now()}, {"status": "gone"}, {"status": "ACTIVE"}]
)
def test_an_agency_is_suspended_exactly_when_it_has_a_time_of_suspension(change: dict[str, Any]) -> None:
    agency = AgencyFactory.create()
    with pytest.raises(IntegrityError, match="agency_suspension_has_a_time"), transaction.atomic():
        Agency.objects.filter(pk=agency.pk).update(**change)


def test_the_number_of_sub_accounts_is_never_negative() -> None:
    agency = AgencyFactory.create()
    reason = refused("UPDATE agency_agency SET sub_account_count = -1 WHERE id = %s", [agency.pk])
    assert "agency_count_is_not_negative" in reason


def test_an_agency_s_name_is_its_own() -> None:
    first, second = AgencyFactory.create(), AgencyFactory.create()
    with pytest.raises(IntegrityError, match="agency_name_is_unique"), transaction.atomic():
        Agency.objects.filter(pk=second.pk).update(name_key=first.name_key)


def test_a_role_is_one_of_three() -> None:
    member = MemberFactory.create()
    with pytest.raises(IntegrityError, match="member_role_is_known"), transaction.atomic():
        Member.objects.filter(pk=member.pk).update(role="root")


def test_a_person_is_in_an_agency_once() -> None:
    member = MemberFactory.create()
    with pytest.raises(IntegrityError, match="member_once_per_agency"), transaction.atomic():
        Member.objects.create(agency=member.agency, user=member.user, role="owner")


def test_an_e_mail_address_is_stored_in_lower_case() -> None:
    user = UserFactory.create()
    with pytest.raises(IntegrityError, match="user_email_is_lower_case"), transaction.atomic():
        User.objects.filter(pk=user.pk).update(email="Upper@example.com")


@pytest.mark.parametrize(("model", "rule"), [(Plan, "plan_name_once"), (Addon, "addon_name_once")])
def test_two_items_on_sale_never_share_a_name(model: Any, rule: str) -> None:
    agency = AgencyFactory.create()
    values = {"agency": agency, "name": "One", "name_key": "one", "limits": {}}
    model.objects.create(**values, archived_at=now())
    model.objects.create(**values)
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        model.objects.create(**values)


def test_an_agency_with_a_past_cannot_be_deleted() -> None:
    plan = PlanFactory.create()
    assert "foreign key" in refused("DELETE FROM agency_agency WHERE id = %s", [plan.agency_id])
    assert Agency.objects.filter(pk=plan.agency_id).exists()


def a_favicon(**changes: Any) -> dict[str, Any]:
    return {"favicon": b"x", "favicon_digest": "0" * 64, "favicon_width": 1, "favicon_height": 1, **changes}


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("brand_accent_is_a_colour", {"accent": "red"}),
        ("brand_accent_is_a_colour", {"accent": "#FFFFFF"}),
        ("brand_logo_is_whole", {"logo": b"x"}),
        ("brand_logo_is_whole", {"logo_digest": "0" * 64}),
        ("brand_logo_is_whole", {"logo": b"x", "logo_digest": "x", "logo_width": 1, "logo_height": 1}),
        ("brand_logo_is_whole", {"logo": b"x", "logo_digest": "0" * 64, "logo_width": 0, "logo_height": 1}),
        ("brand_dark_logo_is_whole", {"dark_logo": b"x"}),
        ("brand_favicon_is_whole", {"favicon": b"x"}),
        ("brand_favicon_is_square", a_favicon(favicon_width=2)),
        ("brand_own_favicon_is_there", {"favicon_is_own": True}),
    ],
)
def test_a_brand_s_colour_is_a_colour_and_its_logo_whole(rule: str, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Brand.objects.create(agency=AgencyFactory.create(), **values)


WHOLE_SERVER = {"host": "smtp.example.com", "port": 587, "security": "tls", "from_address": "a@b.example"}


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("mail_server_is_whole", {"host": "smtp.example.com"}),
        ("mail_server_is_whole", {**WHOLE_SERVER, "from_address": ""}),
        ("mail_server_is_whole", {**WHOLE_SERVER, "security": "none"}),
        ("mail_server_is_whole", {"from_address": "a@b.example"}),
        ("mail_server_has_both_credentials", {**WHOLE_SERVER, "username": "x"}),
        ("mail_server_has_both_credentials", {**WHOLE_SERVER, "password": "x"}),
        ("mail_server_port_is_for_submission", {**WHOLE_SERVER, "port": 25}),
    ],
)
def test_a_mail_server_is_whole(rule: str, values: dict[str, Any]) -> None:
    agency = AgencyFactory.create()
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        MailSettings.objects.create(agency=agency, **values)

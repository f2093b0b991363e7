"""The bootstrap: an agency to begin with, made once, its secrets shown once."""

import io
import json
import threading
from collections import Counter
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client
from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import Addon, Agency, AgencyKey, Mail, Member, Plan, User
from agency.services import add_member, change_agency, create_agency, revoke_agency_key
from channelconnect.services.settings import settings_of, switch_connect
from config.operations import demo_data
from config.operations.bootstrap import RETURN_URL
from config.operations.bootstrap_accounts import example_address, without_revoked_secrets
from workspaces.appointments.models import Appointment
from workspaces.classes.models import ClassSession
from workspaces.finance.models import Invoice, Payment
from workspaces.finance.services.recording import newly_overdue
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey
from workspaces.subaccounts.services import change_workspace

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes 700 statements, where a test is about something else."""
    if "to_look_at" not in request.node.name:
        monkeypatch.setattr(demo_data, "add_business", lambda *_: None)


def bootstrap(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("bootstrap", "--json", *arguments, stdout=out)
    printed: dict[str, Any] = json.loads(out.getvalue())
    return printed


def status_with(key: str, path: str = "/api/agency/v1/plans") -> int:
    return Client().get(path, headers={"x-api-key": key}).status_code


def test_the_first_run_prints_everything_in_the_agreed_form() -> None:
    printed = bootstrap()
    agency, workspace = Agency.objects.get(), Workspace.objects.get()
    assert printed == {
        "agency": {"id": agency.pk, "name": "Demo Agency"},
        "agency_key": printed["agency_key"],
        "copy_key": printed["copy_key"],
        "console": {
            "url": "http://testserver/console/",
            "email": "owner@example.com",
            "password": printed["console"]["password"],
        },
        "admin": {
            "url": "http://testserver/admin/",
            "email": "admin@example.com",
            "password": printed["admin"]["password"],
        },
        "customer": {
            "url": "http://testserver/app/",
            "email": "customer@example.com",
            "password": printed["customer"]["password"],
        },
        "workspace": {"uuid": str(workspace.uuid), "name": workspace.name, "key": printed["workspace"]["key"]},
    }
    assert printed["agency_key"].startswith("svc_ag_")
    assert printed["copy_key"].startswith("svc_ag_")
    assert printed["workspace"]["key"].startswith("svc_")


def test_what_it_prints_works() -> None:
    printed = bootstrap()
    assert status_with(printed["agency_key"]) == status_with(printed["copy_key"]) == 200
    assert list(AgencyKey.objects.order_by("id").values_list("can_copy", flat=True)) == [False, True]
    channels = Client().get("/api/v1/channels", headers={"x-api-key": printed["workspace"]["key"]}).json()["data"]
    assert [(channel["platform"], channel["status"]) for channel in channels] == [("whatsapp", "active")]
    for account in ("console", "admin", "customer"):
        assert User.objects.get(email=printed[account]["email"]).check_password(printed[account]["password"])
    admin = {"username": printed["admin"]["email"], "password": printed["admin"]["password"], "next": "/admin/"}
    browser = Client()
    browser.post("/admin/login/", admin)
    assert browser.get("/admin/").status_code == 200


def test_the_agency_has_an_owner_plans_and_addons_and_nobody_gets_mail() -> None:
    bootstrap()
    agency = Agency.objects.get()
    assert list(Member.objects.values_list("user__email", "role")) == [("owner@example.com", "owner")]
    assert Plan.objects.filter(agency=agency).count() == Addon.objects.filter(agency=agency).count() == 2
    assert not Mail.objects.exists()


def test_the_demo_workspace_has_bookings_a_class_and_invoices_to_look_at() -> None:
    bootstrap()
    workspace = Workspace.objects.get()
    page = Client().get(f"/book/{workspace.booking_page.slug}").content.decode()
    assert [name in page for name in ("Cut and blow-dry", "Highlights", "Pilates")] == [True] * 3
    booked = Counter(Appointment.objects.values_list("status", flat=True))
    assert booked == {"completed": 3, "missed": 1, "booked": 3, "confirmed": 3}
    assert Appointment.objects.filter(starts_at__gt=timezone.now()).values("starts_at__date").distinct().count() > 4
    assert sorted(ClassSession.objects.values_list("participants_count", flat=True)) == [0, 2]
    assert Counter(Invoice.objects.values_list("kind", "status")) == {
        ("invoice", "draft"): 1,
        ("invoice", "open"): 2,
        ("invoice", "paid"): 3,
        ("invoice", "void"): 1,
        ("credit_note", "paid"): 1,
    }
    assert newly_overdue(timezone.now()).count() == 1
    assert Payment.objects.get(refunded__gt=0).left == 10_560


def test_a_second_run_changes_nothing_and_prints_no_secret() -> None:
    first = bootstrap()
    second = bootstrap()
    expected = json.loads(json.dumps(first))
    expected["agency_key"] = expected["copy_key"] = expected["workspace"]["key"] = None
    for account in ("console", "admin", "customer"):
        expected[account]["password"] = None
    assert second == expected
    counts = [model._default_manager.count() for model in (Agency, AgencyKey, Workspace, WorkspaceKey, Channel, User)]
    assert counts == [1, 2, 1, 1, 1, 3]
    assert status_with(first["agency_key"]) == 200


def test_the_name_is_recognised_whatever_its_spelling() -> None:
    assert bootstrap()["agency"] == bootstrap("--agency", " \uff24EMO agency ")["agency"]


def test_rotation_revokes_what_was_printed_before_and_prints_anew() -> None:
    first = bootstrap()
    again = bootstrap("--rotate")
    assert again["agency"] == first["agency"]
    assert again["workspace"]["uuid"] == first["workspace"]["uuid"]
    for name in ("agency_key", "copy_key"):
        assert (status_with(first[name]), status_with(again[name])) == (401, 200)
    keys = [printed["workspace"]["key"] for printed in (first, again)]
    assert [status_with(key, "/api/v1/channels") for key in keys] == [401, 200]
    for account in ("console", "admin", "customer"):
        user = User.objects.get(email=first[account]["email"])
        assert not user.check_password(first[account]["password"])
        assert user.check_password(again[account]["password"])


def test_what_was_printed_is_remembered_as_long_as_it_opens_something() -> None:
    printed = bootstrap()
    assert without_revoked_secrets(json.loads(json.dumps(printed))) == printed
    printed_anew = bootstrap("--rotate")
    assert without_revoked_secrets(printed) == bootstrap()
    revoke_agency_key(key=AgencyKey.objects.get(revoked_at=None, can_copy=True), now=timezone.now(), by=SYSTEM)
    expected = {**printed_anew, "copy_key": None}
    assert without_revoked_secrets(json.loads(json.dumps(printed_anew))) == expected


def test_another_agency_gets_its_own_people_and_keys_but_no_second_admin() -> None:
    first, second = bootstrap(), bootstrap("--agency", "Ärger & Co")
    assert second["agency"]["id"] != first["agency"]["id"]
    assert second["console"]["email"] != first["console"]["email"]
    assert second["admin"] == {**first["admin"], "password": None}
    assert status_with(second["agency_key"]) == 200
    assert Channel.objects.count() == 2


def test_names_that_look_alike_have_different_owners() -> None:
    names = ("Demo-Agency", "demo agency ", "Ärger", "rger", "東京", "大阪")
    assert example_address("owner", "demo agency ") == "owner@example.com"
    assert len({example_address("owner", name) for name in names}) == len(names)


def test_a_key_that_somebody_revoked_stays_revoked() -> None:
    bootstrap()
    for key in AgencyKey.objects.all():
        revoke_agency_key(key=key, now=timezone.now(), by=SYSTEM)
    assert bootstrap()["agency_key"] is None
    assert not AgencyKey.objects.filter(revoked_at=None).exists()


def test_a_renamed_demo_workspace_is_still_the_one() -> None:
    printed = bootstrap()
    change_workspace(workspace=Workspace.objects.get(), name="Renamed", by=SYSTEM)
    assert bootstrap()["workspace"] == {"uuid": printed["workspace"]["uuid"], "name": "Renamed", "key": None}


def test_an_agency_that_was_made_otherwise_keeps_its_owner_and_their_password() -> None:
    agency = create_agency(name="Theirs", by=SYSTEM)
    owner = add_member(agency=agency, email="real@example.org", name="Real", role="owner", by=SYSTEM).user
    owner.set_password("their own")
    owner.save()
    printed = bootstrap("--agency", "Theirs", "--rotate")
    assert printed["console"] == {**printed["console"], "email": "real@example.org", "password": None}
    owner.refresh_from_db()
    assert owner.check_password("their own")


def test_without_room_for_a_sub_account_nothing_is_made() -> None:
    agency = create_agency(name="Full", by=SYSTEM)
    change_agency(agency=agency, name="Full", max_sub_accounts=0, by=SYSTEM)
    with pytest.raises(CommandError, match="The sub-account limit of this agency is reached"):
        bootstrap("--agency", "Full")
    assert not AgencyKey.objects.exists()
    assert not User.objects.exists()


def test_nobody_becomes_support_by_having_the_address() -> None:
    User.objects.create_user("admin@example.com", "own password")
    with pytest.raises(CommandError, match="no superuser"):
        bootstrap("--rotate")
    user = User.objects.get(email="admin@example.com")
    assert not user.is_staff
    assert user.check_password("own password")


@pytest.mark.parametrize("name", ["", "  ", "x" * 121, "a\nb", "a\0b"])
def test_a_name_that_cannot_be_one_is_refused(name: str) -> None:
    with pytest.raises(CommandError, match="An agency's name"):
        bootstrap("--agency", name)


def test_without_json_a_summary_says_where_secrets_are() -> None:
    out = io.StringIO()
    call_command("bootstrap", stdout=out)
    call_command("bootstrap", stdout=out)
    assert "svc_ag_" in out.getvalue()
    assert "--rotate makes a new one" in out.getvalue()


OURS = ("--agency", "Ours", "--owner-email", " Grace@Example.org", "--admin-email", "root@example.org")


@pytest.fixture
def production(settings: Any) -> Any:
    settings.PRODUCTION = True
    return settings


def test_production_gets_neither_a_demo_nor_an_address_that_everybody_knows(production: Any) -> None:
    printed = bootstrap(*OURS)
    assert (printed["workspace"], printed["customer"]) == (None, None)
    assert (printed["console"]["email"], printed["admin"]["email"]) == ("grace@example.org", "root@example.org")
    assert not Workspace.objects.exists()
    assert sorted(User.objects.values_list("email", "is_superuser")) == [
        ("grace@example.org", False),
        ("root@example.org", True),
    ]
    assert status_with(printed["agency_key"]) == 200
    again = bootstrap(*OURS)
    assert (again["agency_key"], again["console"]["password"], again["admin"]["password"]) == (None, None, None)


@pytest.mark.parametrize("missing", ["--agency", "--owner-email", "--admin-email"])
def test_production_makes_nothing_while_a_name_or_an_address_is_missing(production: Any, missing: str) -> None:
    at = OURS.index(missing)
    with pytest.raises(CommandError, match=f"^{missing} is needed in production"):
        bootstrap(*OURS[:at], *OURS[at + 2 :])
    assert not Agency.objects.exists()
    assert not User.objects.exists()


def test_a_further_agency_of_production_needs_no_owner_whom_it_has(production: Any) -> None:
    bootstrap(*OURS)
    printed = bootstrap("--agency", "Ours", "--admin-email", "root@example.org", "--rotate")
    assert printed["console"] == {**printed["console"], "email": "grace@example.org", "password": None}
    assert printed["admin"]["password"]


def test_support_staff_become_no_superusers_by_being_named() -> None:
    User.objects.create_user("staff@example.org", "own password", is_staff=True)
    with pytest.raises(CommandError, match="no superuser"):
        bootstrap("--admin-email", "staff@example.org", "--rotate")
    assert User.objects.get().check_password("own password")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(CommandError, match="e-mail address"):
        bootstrap("--owner-email", "nobody")


def test_a_demo_workspace_that_somebody_took_over_keeps_its_owner(settings: Any) -> None:
    bootstrap()
    owner = User.objects.create_user("real@example.org", "own password")
    Workspace.objects.update(owner=owner, owner_email=owner.email)
    printed = bootstrap("--rotate")
    assert printed["customer"] == {**printed["customer"], "email": "real@example.org", "password": None}
    owner.refresh_from_db()
    assert owner.check_password("own password")


@pytest.mark.django_db(transaction=True)
def test_runs_at_the_same_time_make_everything_once() -> None:
    start, printed = threading.Barrier(4), []

    def run() -> None:
        try:
            start.wait(60)
            printed.append(bootstrap())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(printed) == 4
    assert len([one for one in printed if one["agency_key"]]) == 1
    assert (Agency.objects.count(), AgencyKey.objects.count(), Workspace.objects.count()) == (1, 2, 1)


def test_the_agency_may_connect_channels_at_once_but_not_in_production(settings: Any) -> None:
    settings.PRODUCTION = True
    bootstrap(*OURS, "--agency", "Demo Agency")
    agency = Agency.objects.get()
    assert not settings_of(agency).enabled
    settings.PRODUCTION = False
    bootstrap()
    assert (settings_of(agency).enabled, settings_of(agency).return_urls) == (True, [RETURN_URL])


def test_the_demo_workspace_has_room_to_try_connecting_with_each_platform() -> None:
    bootstrap()
    allowed = Workspace.objects.get().limits["channels"]
    held = Counter(Channel.objects.values_list("platform", flat=True))
    assert all(allowed[platform] > held[platform] for platform in ("whatsapp", "facebook", "instagram"))


def test_what_was_set_about_connecting_stays() -> None:
    bootstrap()
    agency = Agency.objects.get()
    switch_connect(agency=agency, enabled=False, reason="Not here", by=SYSTEM)
    bootstrap()
    assert not settings_of(agency).enabled

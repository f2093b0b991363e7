"""A new sub-account from the console: the same rules and the same event as over the API."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from agency.models import Agency, Mail
from tests.agency.console.browsers import a_browser, a_member, at_the_console, flashes, hidden, text
from tests.factories import PlanFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
NEW = "/console/sub-accounts/new"


def create(browser: Client, **changes: str) -> Any:
    data = {"name": "Corner Salon", "owner_name": "Ada", "owner_email": "ada@example.com", "timezone": "Europe/Berlin"}
    return browser.post(NEW, data | changes, follow=True)


def test_it_is_made_with_owner_plan_type_and_zone_and_sent_to_webhooks(a: Tenant) -> None:
    member = a_member(a.agency)
    answer = create(
        a_browser(member.user), plan=str(a.plan.uuid), business_type="salon_spa", owner_email=" Ada@Example.com "
    )
    made = Workspace.objects.get()
    assert (made.agency, made.name, made.plan) == (a.agency, "Corner Salon", a.plan)
    assert (made.owner_name, made.owner_email) == ("Ada", "ada@example.com")
    assert (made.business_type, made.timezone, made.limits) == ("salon_spa", "Europe/Berlin", a.plan.limits)
    assert a.event_names() == ["workspace.created"]
    assert flashes(answer) == ["Corner Salon was created."]
    assert Mail.objects.get(kind=Mail.Kind.OWNERSHIP_INVITATION).recipient == made.owner.email
    assert f"Sub-account created {member.user.email} · just now" in text(answer)


def test_plan_type_and_zone_may_be_left_as_they_are(a: Tenant, admin: Client) -> None:
    form = admin.get(NEW).context["form"]
    assert form["timezone"].value() == "UTC"
    admin.cookies[settings.TIME_ZONE_COOKIE_NAME] = "Asia/Kathmandu"
    page = admin.get(NEW)
    assert page.context["form"]["timezone"].value() == "Asia/Kathmandu"
    assert b'list="timezone-zones"' in page.content
    assert b'<datalist id="timezone-zones"><option value="UTC"><option value="Africa/Abidjan">' in page.content
    create(admin, timezone="UTC", plan="", business_type="")
    made = Workspace.objects.get()
    assert (made.plan, made.business_type, made.timezone) == (None, None, "UTC")


@pytest.mark.parametrize(
    ("typed", "zone"),
    [("kathmandu", "Asia/Kathmandu"), (" america/new york ", "America/New_York"), ("New  York", "America/New_York")],
)
def test_a_zone_may_be_typed_as_its_city(typed: str, zone: str, a: Tenant, admin: Client) -> None:
    create(admin, timezone=typed)
    assert Workspace.objects.get().timezone == zone


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("name", ""),
        ("name", "x" * 121),
        ("name", "\u200b"),
        ("name", "a\0b"),
        ("owner_name", ""),
        ("owner_name", "\u202eevil"),
        ("owner_email", "nonsense"),
        ("owner_email", "a" * 250 + "@example.com"),
        ("timezone", "Mars/Phobos"),
        ("timezone", ""),
        ("business_type", "bank"),
        ("plan", "nonsense"),
        ("plan", "\0"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field(field: str, wrong: str, a: Tenant, admin: Client) -> None:
    page = create(admin, **{field: wrong})
    assert page.status_code == 422
    assert f'id="id_{field}_error"' in page.content.decode()
    assert f'href="#id_{field}"' in page.content.decode()
    assert "Error: New sub-account" in text(page)
    assert not Workspace.objects.exists()


def test_neither_another_agency_s_plan_nor_an_archived_one_can_be_chosen(a: Tenant, b: Tenant, admin: Client) -> None:
    archived = PlanFactory.create(agency=a.agency, name="Legacy")
    admin.post(f"/console/plans/{archived.uuid}/archive")
    for plan in (b.plan, archived):
        page = create(admin, plan=str(plan.uuid))
        assert page.status_code == 422
        assert plan.name not in text(page)


def test_past_the_agency_s_own_limit_the_form_says_so_and_keeps_the_values() -> None:
    tenant = Tenant(max_sub_accounts=1)
    browser = at_the_console(tenant.agency)
    create(browser)
    page = create(browser, name="One too many")
    assert page.status_code == 422
    assert "The sub-account limit of this agency is reached." in text(page)
    assert b'value="One too many"' in page.content
    assert Workspace.objects.count() == 1


def test_nothing_is_made_when_the_form_names_another_agency(a: Tenant, b: Tenant, admin: Client) -> None:
    create(admin, made_for=str(b.agency.uuid))
    create(admin, agency=str(b.agency.uuid), agency_id=str(b.agency.pk), name="Mine all the same")
    assert Workspace.objects.get().agency == a.agency


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_several_times_at_once_makes_one(a: Tenant, admin: Client) -> None:
    nonce = hidden(admin.get(NEW), "nonce")
    browsers = [a_browser() for _ in range(4)]
    for browser in browsers:
        browser.cookies = admin.cookies
    answers = at_once(lambda number: create(browsers[number], nonce=nonce), times=4)
    assert Workspace.objects.count() == 1
    landing = f"/console/sub-accounts/{Workspace.objects.get().uuid}"
    assert [answer.redirect_chain[0][0] for answer in answers] == [landing] * 4
    late = create(browsers[0], nonce=nonce)
    assert "This form was already sent. This is the result." in flashes(late)


def test_a_form_that_was_refused_may_be_sent_again() -> None:
    tenant = Tenant(max_sub_accounts=0)
    browser = at_the_console(tenant.agency)
    refused = create(browser, nonce=hidden(browser.get(NEW), "nonce"))
    Agency.objects.update(max_sub_accounts=1)
    create(browser, nonce=hidden(refused, "nonce"))
    assert Workspace.objects.count() == 1

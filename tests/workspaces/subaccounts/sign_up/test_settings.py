"""Configuration → Sign-up: switched on with a plan, never without one."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, Plan, SignUpSettings
from agency.services import archive_item, sign_up_settings_of
from tests.agency.console.browsers import flashes, text
from tests.factories import DomainFactory, PlanFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.sign_up.steps import a_visitor, open_sign_up

pytestmark = pytest.mark.django_db
PAGE = "/console/configuration/sign-up"
EDIT = f"{PAGE}/edit"
TERMS = "https://www.example.com/terms"


@pytest.fixture
def plan(a: Tenant) -> Plan:
    return PlanFactory.create(agency=a.agency, name="Starter")


def save(browser: Client, plan: Plan | None = None, **fields: str) -> Any:
    return browser.post(EDIT, {"plan": str(plan.uuid) if plan else "", **fields})


def test_an_admin_switches_it_on_and_copies_the_address(a: Tenant, admin: Client, plan: Plan) -> None:
    host = DomainFactory.create(agency=a.agency).host
    answer = save(admin, plan, is_on="on", allows_further_workspaces="on", terms_url=TERMS)
    assert answer["Location"] == PAGE
    page = admin.get(PAGE)
    assert f'data-copy="http://{host}/sign-up"'.encode() in page.content
    assert f'href="{TERMS}"'.encode() in page.content
    settings = sign_up_settings_of(a.agency)
    assert (settings.is_on, settings.allows_further_workspaces, settings.terms_url) == (True, True, TERMS)
    plan.refresh_from_db()
    assert plan.is_default
    entry = ActivityEntry.objects.get(action="sign_up.changed")
    assert entry.changes["is_on"] == [False, True]
    assert a_visitor(host).get("/sign-up").status_code == 200


def test_without_a_domain_it_says_what_is_missing(admin: Client, plan: Plan) -> None:
    save(admin, plan, is_on="on")
    assert "Add and verify a domain of your own first." in text(admin.get(PAGE))


@pytest.mark.parametrize("switch", ["is_on", "allows_further_workspaces"])
def test_neither_is_switched_on_without_a_plan(switch: str, a: Tenant, admin: Client, plan: Plan) -> None:
    answer = save(admin, None, **{switch: "on"})
    assert answer.status_code == 422
    assert "Default plan: Choose the plan that new customers get." in text(answer)
    assert not SignUpSettings.objects.exists()


def test_another_agency_s_plan_and_an_archived_one_are_no_choices(a: Tenant, b: Tenant, admin: Client) -> None:
    archived = PlanFactory.create(agency=a.agency)
    archive_item(item=archived, now=archived.created_at, by=SYSTEM)
    for plan in (b.plan, archived):
        answer = save(admin, plan, is_on="on")
        assert answer.status_code == 422
        assert "Default plan: Select a valid choice." in text(answer)


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "http://www.example.com/terms",
        "https://user:secret@www.example.com/",
        "https://127.0.0.1/terms",
        "https://10.0.0.1/",
        "https://localhost/terms",
        "https://intranet/terms",
        "https://[::1]/",
        "//www.example.com/terms",
        "https://www.example.com/a b",
        'https://www.example.com/#"onclick=',
        "https://www.example.com/" + "x" * 490,
    ],
)
def test_links_are_https_and_public(link: str, admin: Client, plan: Plan) -> None:
    for field, label in (("terms_url", "Address of your terms"), ("privacy_url", "Address of your privacy notice")):
        answer = save(admin, plan, **{field: link})
        assert answer.status_code == 422
        assert f"{label}: " in text(answer)
    assert not SignUpSettings.objects.exists()


def test_the_default_plan_stays_while_customers_take_it(a: Tenant, admin: Client, plan: Plan) -> None:
    save(admin, plan, is_on="on")
    answer = admin.post(f"/console/plans/{plan.uuid}/default", {"default": "no"}, follow=True)
    assert "New customers get this plan when they sign up." in flashes(answer)[-1]
    assert "Choose another default plan first." in text(admin.post(f"/console/plans/{plan.uuid}/archive"))
    plan.refresh_from_db()
    assert plan.is_default
    assert save(admin, None).status_code == 302
    plan.refresh_from_db()
    assert not plan.is_default


def test_the_database_keeps_a_plan_where_it_is_on(a: Tenant) -> None:
    open_sign_up(a.agency)
    for break_it in (
        lambda: Plan.objects.filter(agency=a.agency).update(is_default=False),
        lambda: Plan.objects.filter(agency=a.agency, is_default=True).delete(),
        lambda: SignUpSettings.objects.create(agency=Tenant().agency, allows_further_workspaces=True),
        lambda: SignUpSettings.objects.update(terms_url="http://www.example.com/"),
    ):
        with pytest.raises(IntegrityError):
            _break_for_good(break_it)


def _break_for_good(break_it: Callable[[], Any]) -> None:
    """Do it, up to what the database looks at when a transaction ends."""
    with transaction.atomic():
        break_it()
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_saving_the_same_again_is_no_activity(a: Tenant, admin: Client, plan: Plan) -> None:
    for _ in range(2):
        save(admin, plan, is_on="on", terms_url=TERMS)
    assert ActivityEntry.objects.filter(action="sign_up.changed").count() == 1


def test_a_viewer_may_look_and_not_edit(a: Tenant, viewer: Client, plan: Plan) -> None:
    assert viewer.get(PAGE).status_code == 200
    assert EDIT.encode() not in viewer.get(PAGE).content
    assert viewer.get(EDIT).status_code == viewer.post(EDIT).status_code == 403


def test_the_page_says_how_much_room_is_left(a: Tenant, admin: Client) -> None:
    Agency.objects.filter(pk=a.agency.pk).update(max_sub_accounts=5)
    assert "0 of 5 sub-accounts are used." in text(admin.get(PAGE))

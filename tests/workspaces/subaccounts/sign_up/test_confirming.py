"""The link in the e-mail: one button makes the person and the workspace, once, or nothing at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, Mail, PendingSignUp, User
from agency.services import change_sign_up, choose_default_plan, restore_agency, suspend_agency
from agency.services.retention import RULES
from agency.tasks import send_mail
from config.logs import redact
from tests.agency.console.browsers import a_browser, a_person, text
from tests.factories import DomainFactory, EndpointFactory, PlanFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.webhooks.delivering import make_deliveries
from tests.workspaces.subaccounts.sign_up.steps import (
    CONFIRM,
    EMAIL,
    PAGE,
    PASSWORD,
    a_visitor,
    open_sign_up,
    press,
    sign_up,
    the_link,
)
from webhooks.models import Delivery
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(host: str, visitor: Client) -> str:
    sign_up(visitor)
    return the_link(host)


def test_the_whole_way_from_the_page_to_the_dashboard(a: Tenant, host: str, visitor: Client, link: str) -> None:
    answer = press(visitor, link)
    assert (answer.status_code, answer["Location"]) == (302, "/app/")
    workspace = Workspace.objects.get()
    assert (workspace.agency, workspace.name) == (a.agency, "Ada's Flowers")
    assert (workspace.business_type, workspace.timezone) == ("retail_ecommerce", "Europe/Berlin")
    assert (workspace.plan, workspace.limits) == (a.agency.plans.get(), a.agency.plans.get().limits)
    assert (workspace.owner.email, workspace.owner.name, workspace.owner_pending_since) == (EMAIL, "Ada Brandt", None)
    assert (workspace.owner_name, workspace.owner_email) == ("Ada Brandt", EMAIL)
    assert visitor.get("/app/settings").status_code == 200
    assert "Ada's Flowers" in text(visitor.get("/app/settings"))
    assert not Mail.objects.filter(sent_at=None).exists()
    again = a_visitor(host).post("/account/sign-in", {"email": EMAIL, "password": PASSWORD})
    assert (again.status_code, again["Location"]) == (302, "/app/")


def test_workspace_created_is_sent_once_as_for_one_made_over_the_api(a: Tenant, visitor: Client, link: str) -> None:
    endpoint = EndpointFactory.create(agency=a.agency)
    press(visitor, link)
    (event,) = a.events
    workspace = Workspace.objects.get()
    plan = {"uuid": str(a.agency.plans.get().uuid), "name": "Starter"}
    shown = {"uuid": str(workspace.uuid), "name": "Ada's Flowers", "status": "active", "plan": plan}
    assert (event["event"], event["agency_id"], event["data"]) == (
        "workspace.created",
        a.agency.pk,
        {"workspace": shown},
    )
    make_deliveries(connection.connection)
    delivery = Delivery.objects.get()
    assert (delivery.endpoint, delivery.event_name) == (endpoint, "workspace.created")
    assert a.api.get(f"/webhooks/deliveries/{delivery.uuid}").json()["data"]["envelope"] == event


def test_the_activity_says_who_came_and_what_they_agreed_to(a: Tenant) -> None:
    host = open_sign_up(a.agency, terms_url="https://north.example.com/terms")
    visitor = a_visitor(host)
    sign_up(visitor, agreed="on")
    press(visitor, the_link(host))
    user = User.objects.get(email=EMAIL)
    entries = ActivityEntry.objects.filter(action__in=["workspace.created", "sign_up.confirmed"])
    assert {(entry.agency, entry.actor_kind, entry.actor_id, entry.actor_label) for entry in entries} == {
        (a.agency, "user", str(user.pk), EMAIL)
    }
    agreed = ActivityEntry.objects.get(action="sign_up.confirmed")
    assert agreed.details == {"terms_url": "https://north.example.com/terms"}
    assert PASSWORD not in "".join(str(vars(entry)) for entry in entries)


def test_opening_the_link_confirms_nothing_and_its_token_leaves_the_address(
    a: Tenant, host: str, visitor: Client, link: str
) -> None:
    token = link.rsplit("/", 1)[1]
    for _ in range(3):
        for opened in (a_visitor(host).get(link), a_visitor(host).head(link)):
            assert (opened.status_code, opened["Location"]) == (302, CONFIRM)
            assert opened["Referrer-Policy"] == "no-referrer"
            assert "no-store" in opened["Cache-Control"]
    visitor.get(link)
    page = visitor.get(CONFIRM)
    assert page.status_code == 200
    assert "You signed up at" in text(page)
    assert "Ada's Flowers" in text(page)
    assert token.encode() not in page.content
    assert not User.objects.filter(email=EMAIL).exists()
    assert press(visitor, link).status_code == 302


def test_the_link_s_token_stays_out_of_the_logs(link: str) -> None:
    assert link.rsplit(":", 1)[1] not in redact(f"GET {link}")


def test_the_password_is_forgotten_with_the_use(visitor: Client, link: str) -> None:
    press(visitor, link)
    pending = PendingSignUp.objects.get()
    assert pending.password == ""
    assert pending.confirmed_at is not None


def test_a_link_works_once(host: str, visitor: Client, link: str) -> None:
    press(visitor, link)
    other = a_visitor(host)
    answer = press(other, link, password=PASSWORD)
    assert answer.status_code == 410
    assert "Your address is confirmed already" in text(answer)
    assert "_auth_user_id" not in other.session
    assert Workspace.objects.count() == 1


def test_a_second_click_in_the_browser_that_signed_up_reads_the_same(host: str, visitor: Client, link: str) -> None:
    cookie = visitor.cookies["sign-up"].value
    press(visitor, link)
    late = a_visitor(host)
    late.cookies["sign-up"] = cookie
    assert "Your address is confirmed already" in text(late.post(CONFIRM))


def test_another_browser_has_to_know_the_password(host: str, link: str) -> None:
    phone = a_visitor(host)
    phone.get(link)
    assert b'autocomplete="current-password"' in phone.get(CONFIRM).content
    for fields, message in (
        ({}, "This field is required."),
        ({"password": "another-staple"}, "This is not the password"),
    ):
        answer = phone.post(CONFIRM, fields)
        assert answer.status_code == 422
        assert message in text(answer)
    assert not User.objects.filter(email=EMAIL).exists()
    assert phone.post(CONFIRM, {"password": PASSWORD})["Location"] == "/app/"


def test_ten_guesses_are_allowed_in_fifteen_minutes(host: str, link: str) -> None:
    phone = a_visitor(host)
    phone.get(link)
    answers = [phone.post(CONFIRM, {"password": f"guess-number-{number}"}).status_code for number in range(11)]
    assert answers == [422] * 10 + [429]


def made_up(link: str, b: Tenant) -> tuple[str | None, str]:
    return None, link[:-1] + ("A" if link[-1] != "A" else "B")


def of_another_agency(link: str, b: Tenant) -> tuple[str | None, str]:
    return open_sign_up(b.agency), link


def outdated(link: str, b: Tenant) -> tuple[str | None, str]:
    PendingSignUp.objects.update(created_at=now() - timedelta(hours=25), expires_at=now() - timedelta(hours=1))
    return None, link


def forgotten(link: str, b: Tenant) -> tuple[str | None, str]:
    outdated(link, b)
    next(rule for rule in RULES if rule.name == "pending_sign_ups").forget()
    assert not PendingSignUp.objects.exists()
    return None, link


@pytest.mark.parametrize("spoil", [made_up, of_another_agency, outdated, forgotten])
def test_a_link_that_is_old_or_made_up_or_of_another_agency_makes_nothing(
    spoil: Callable[[str, Tenant], tuple[str | None, str]], host: str, link: str, b: Tenant
) -> None:
    elsewhere, spoilt = spoil(link, b)
    browser = a_visitor(elsewhere or host)
    opened = browser.get(spoilt)
    answer = browser.post(CONFIRM, {"password": PASSWORD})
    for one in (answer, *([opened] if opened.status_code != 302 else [])):
        assert one.status_code == 410
        assert "This link no longer works" in text(one)
    assert not User.objects.filter(email=EMAIL).exists()


def test_without_a_link_the_button_does_nothing(visitor: Client) -> None:
    for answer in (visitor.get(CONFIRM), visitor.post(CONFIRM)):
        assert answer.status_code == 410


def switched_off(agency: Agency) -> Callable[[], Any]:
    plan = agency.plans.get()
    change_sign_up(agency=agency, plan=None, is_on=False, by=SYSTEM)
    return lambda: change_sign_up(agency=agency, plan=plan, is_on=True, by=SYSTEM)


def suspended(agency: Agency) -> Callable[[], Any]:
    suspend_agency(agency=agency, reason="", now=now(), by=SYSTEM)
    return lambda: restore_agency(agency=agency, by=SYSTEM)


def full(agency: Agency) -> Callable[[], Any]:
    Agency.objects.filter(pk=agency.pk).update(max_sub_accounts=0)
    return lambda: Agency.objects.filter(pk=agency.pk).update(max_sub_accounts=1)


@pytest.mark.parametrize(
    ("close", "message"),
    [
        (switched_off, "Sign-up is closed at the moment"),
        (suspended, "Sign-up is closed at the moment"),
        (full, "We cannot take new customers at the moment"),
    ],
)
def test_what_was_closed_meanwhile_says_so_and_the_link_works_when_it_is_open_again(
    close: Callable[[Agency], Callable[[], Any]], message: str, a: Tenant, visitor: Client, link: str
) -> None:
    visitor.get(link)
    reopen = close(a.agency)
    for answer in (visitor.get(CONFIRM), visitor.post(CONFIRM)):
        assert answer.status_code == 403
        assert message in text(answer)
    assert not User.objects.filter(email=EMAIL).exists()
    reopen()
    assert visitor.post(CONFIRM)["Location"] == "/app/"


def test_the_plan_is_the_default_of_the_moment_of_confirmation(a: Tenant, visitor: Client, link: str) -> None:
    other = PlanFactory.create(agency=a.agency, name="Growth")
    choose_default_plan(agency=a.agency, plan=other, by=SYSTEM)
    press(visitor, link)
    assert Workspace.objects.get().plan == other


def test_an_account_that_was_made_meanwhile_is_nobody_else_s(a: Tenant, visitor: Client, link: str) -> None:
    visitor.get(link)
    owner = a_person(email=EMAIL)
    for answer in (visitor.get(CONFIRM), visitor.post(CONFIRM)):
        assert answer.status_code == 409
        assert "There is an account with this address" in text(answer)
    assert "_auth_user_id" not in visitor.session
    owner.refresh_from_db()
    assert not Workspace.objects.exists()


def test_a_mail_whose_sign_up_is_over_is_not_sent(a: Tenant, visitor: Client) -> None:
    sign_up(visitor)
    PendingSignUp.objects.update(created_at=now() - timedelta(hours=25), expires_at=now() - timedelta(hours=1))
    outbox.outbox.clear()
    send_mail()
    assert outbox.outbox == []
    assert Mail.objects.get().given_up_at is not None


@pytest.mark.django_db(transaction=True)
def test_of_twenty_confirmations_at_once_one_makes_one_workspace(
    a: Tenant, host: str, visitor: Client, link: str
) -> None:
    browsers = [a_visitor(host) for _ in range(20)]
    for browser in browsers:
        browser.cookies["sign-up"] = visitor.cookies["sign-up"].value
        browser.get(link)
    answers = at_once(lambda number: browsers[number].post(CONFIRM), times=20)
    assert sorted(answer.status_code for answer in answers) == [302] + [410] * 19
    assert (Workspace.objects.count(), User.objects.filter(email=EMAIL).count()) == (1, 1)
    assert [event["event"] for event in a.events] == ["workspace.created"]


@pytest.mark.django_db(transaction=True)
def test_of_several_at_the_limit_one_comes_in_and_nobody_is_left_halfway(a: Tenant, host: str) -> None:
    browsers = [a_visitor(host) for _ in range(5)]
    for number, browser in enumerate(browsers):
        sign_up(browser, email=f"person-{number}@example.com")
        browser.get(the_link(host))
    Agency.objects.filter(pk=a.agency.pk).update(max_sub_accounts=1)
    answers = at_once(lambda number: browsers[number].post(CONFIRM), times=5)
    assert sorted(answer.status_code for answer in answers) == [302, 403, 403, 403, 403]
    assert (Workspace.objects.count(), User.objects.filter(email__startswith="person-").count()) == (1, 1)
    assert PendingSignUp.objects.filter(confirmed_at=None).count() == 4
    a.agency.refresh_from_db()
    assert a.agency.sub_account_count == 1


@contextmanager
def dying(table: str) -> Iterator[None]:
    """Have whoever writes into a table lose their connection, as with a process or a server that dies."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION test_die() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$"
        )
        cursor.execute(f"CREATE TRIGGER test_die BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION test_die()")
    try:
        yield
    finally:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION test_die CASCADE")


@pytest.mark.django_db(transaction=True)
def test_whoever_dies_after_the_person_was_made_leaves_nothing_and_the_link_still_works(
    a: Tenant, visitor: Client, link: str
) -> None:
    visitor.get(link)
    visitor.raise_request_exception = False
    with dying("subaccounts_workspace"):
        assert visitor.post(CONFIRM).status_code in {500, 503}
    assert not User.objects.filter(email=EMAIL).exists()
    assert a.events == []
    assert PendingSignUp.objects.get().confirmed_at is None
    assert visitor.post(CONFIRM)["Location"] == "/app/"


def test_the_links_of_one_agency_s_sign_up_say_nothing_on_another_s_host(a: Tenant, b: Tenant, link: str) -> None:
    elsewhere = a_visitor(DomainFactory.create(agency=b.agency).host)
    answer = elsewhere.get(link)
    assert answer.status_code == 410
    assert "Ada" not in text(answer)
    assert a.agency.name not in text(answer)
    assert a_browser().get(link).status_code == 404
    assert elsewhere.get(PAGE).status_code == 404

"""Two-factor: set up on one's own page, required by role, switched off with password and code."""

import html
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from cryptography.fernet import Fernet
from django.core import mail as outbox
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Mail, RecoveryCode, TwoFactor, User
from agency.services.two_factor import reset_two_factor, use_code
from agency.tasks import send_mail
from config.db import database_now
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, at_the_console, flashes, text
from tests.agency.console.test_signing_in import sign_in
from tests.agency.console.two_factor_pages import (
    BEGIN,
    CODE,
    NEW_CODES,
    OFF,
    RECOVERY,
    SECURITY,
    SET_UP,
    WRONG,
    is_in,
    past_the_password,
    scanned,
    send,
    shown_codes,
    shown_secret,
)
from tests.agency.two_factor import App, an_app, code_at
from tests.factories import DomainFactory, WorkspaceFactory, WorkspaceMemberFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return a_person(name="Ada")


@pytest.fixture
def app(person: User) -> App:
    return an_app(person)


def test_it_is_set_up_with_a_first_code_and_recovery_codes_are_shown_once(person: User) -> None:
    browser, elsewhere = a_browser(), a_browser(person)
    sign_in(browser, person.email)
    assert browser.post(BEGIN, {"next": "/account/invitations"})["Location"] == SET_UP
    page = browser.get(SET_UP)
    secret = shown_secret(page)
    content = html.unescape(page.content.decode())
    assert "no-store" in page["Cache-Control"]
    assert 'src="data:image/svg+xml' in content
    assert "img-src 'self' data:" in page["Content-Security-Policy"]
    account = f"otpauth://totp/testserver:{quote(person.email)}?secret={secret}&issuer=testserver"
    assert scanned(content) == account
    assert f'href="{account}"' in content
    assert WRONG in text(send(browser, "000000" if code_at(secret, database_now()) != "000000" else "1", SET_UP))
    assert not TwoFactor.objects.filter(confirmed_at__isnull=False)
    before = browser.cookies["session"].value
    page = send(browser, code_at(secret, database_now()), SET_UP)
    codes = shown_codes(page)
    assert len(set(codes)) == 10
    assert 'href="/account/invitations"' in page.content.decode()
    assert browser.cookies["session"].value != before
    assert (is_in(browser), is_in(elsewhere)) == (True, False)
    assert "10 of ten recovery codes are left." in text(browser.get(SECURITY))
    assert flashes(browser.get(SET_UP, follow=True)) == ["Two-factor is switched on already."]
    assert browser.get(BEGIN)["Location"] == SECURITY
    outbox.outbox.clear()
    send_mail()
    assert "Two-factor is now on" in str(outbox.outbox[-1].body)
    assert ActivityEntry.objects.filter(action="two_factor.switched_on", target_id=str(person.pk)).count() == 1


def test_the_password_is_asked_for_once_more_when_it_was_not_shown_lately(person: User) -> None:
    browser = a_browser(person)
    assert b'name="password"' in browser.get(BEGIN).content
    answers = [browser.post(BEGIN, {"password": "guess"}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]
    assert not TwoFactor.objects.exists()
    other = a_browser(a_person())
    assert other.post(BEGIN, {"password": PASSWORD})["Location"] == SET_UP


def test_a_key_is_shown_to_the_browser_alone_that_asked_for_it(person: User) -> None:
    browser, other = a_browser(person), a_browser(person)
    browser.post(BEGIN, {"password": PASSWORD})
    assert browser.get(SET_UP).status_code == 200
    assert other.get(SET_UP)["Location"] == SECURITY
    TwoFactor.objects.update(created_at=database_now() - timedelta(minutes=61))
    assert browser.get(SET_UP)["Location"] == SECURITY


def test_nothing_that_is_stored_gives_a_code_away(person: User, app: App) -> None:
    stored = str(list(RecoveryCode.objects.values_list("digest", flat=True)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM agency_twofactor")
        stored += str([bytes(row[0]) for row in cursor.fetchall()])
    assert not any(word in stored for word in (app.secret, *app.codes, app.codes[0].replace("-", "")))


def test_security_emails_carry_the_host_s_agency_and_from_support_the_person_s_only_one(
    person: User, app: App, a: Tenant
) -> None:
    DomainFactory.create(agency=a.agency, host="app.bright.localhost")
    browser = Client(headers={"host": "app.bright.localhost"})
    sign_in(browser, person.email)
    assert send(browser, app.codes[0], RECOVERY).status_code == 302
    assert browser.post(OFF, {"password": PASSWORD, "code": app.code()}).status_code == 302
    WorkspaceFactory.create(agency=a.agency, owner_email=person.email)
    an_app(person)
    reset_two_factor(user=person, by=SYSTEM)
    told = Mail.objects.filter(kind__in=["two_factor_changed", "recovery_code_used"], agency=a.agency).order_by("id")
    assert [mail.context.get("change", "used") for mail in told] == ["used", "off", "reset"]


def test_it_is_switched_off_with_password_and_code_and_others_end(person: User, app: App) -> None:
    browser, other = past_the_password(person), past_the_password(person)
    send(browser, app.codes[0], RECOVERY)
    send(other, app.codes[1], RECOVERY)
    for fields in ({"password": "guess", "code": app.code()}, {"password": PASSWORD, "code": app.wrong_code()}):
        assert browser.post(OFF, fields).status_code == 422
    assert browser.post(OFF, {"password": PASSWORD, "code": app.code()})["Location"] == SECURITY
    assert (is_in(browser), is_in(other)) == (True, False)
    assert not TwoFactor.objects.exists()
    assert not RecoveryCode.objects.exists()
    assert sign_in(a_browser(), person.email)["Location"] != CODE
    told = Mail.objects.filter(kind=Mail.Kind.TWO_FACTOR_CHANGED).latest("id")
    assert told.context == {"change": "off"}


def test_new_recovery_codes_take_the_place_of_the_old(person: User, app: App) -> None:
    browser = past_the_password(person)
    send(browser, app.codes[0], RECOVERY)
    codes = shown_codes(browser.post(NEW_CODES, {"password": PASSWORD, "code": app.code()}))
    assert len(codes) == 10
    assert send(past_the_password(person), app.codes[1], RECOVERY).status_code == 422
    assert send(past_the_password(person), codes[0], RECOVERY).status_code == 302


def test_the_key_is_rotated_with_the_others_and_is_worth_nothing_to_another(
    person: User, app: App, settings: Any
) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.FIELD_ENCRYPTION_KEYS]
    call_command("rotate_encryption_keys", verbosity=0)
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    assert use_code(user=person, code=app.code(), now=database_now())
    other = a_person()
    TwoFactor.objects.filter(user=person).update(user=other)
    assert not use_code(user=other, code=app.code(), now=database_now())  # a recovery code lets them in


def test_an_owner_requires_it_by_role_and_each_is_led_to_set_it_up(a: Tenant) -> None:
    owner, viewer = at_the_console(a.agency, "owner"), at_the_console(a.agency, "viewer")
    requirement = "/console/team/two-factor"
    assert at_the_console(a.agency, "admin").get(requirement).status_code == 403
    assert owner.post(requirement, {"roles": ["viewer", "robot"]}).status_code == 422
    answer = owner.post(requirement, {"roles": ["viewer"]}, follow=True)
    assert flashes(answer) == ["Two-factor is required for: Viewer."]
    assert "No two-factor yet" in text(answer)
    assert owner.get("/console/plans").status_code == 200
    page = viewer.get("/console/plans")
    assert page.status_code == 403
    assert f"{a.agency.name} requires a second step" in text(page)
    assert 'href="/account/two-factor/begin?next=/console/plans"' in page.content.decode()
    assert viewer.get("/account/profile").status_code == 200  # not elsewhere
    assert a.api.get("/workspaces").status_code == 200
    viewer.post(BEGIN, {"password": PASSWORD, "next": "/console/plans"})
    code = code_at(shown_secret(viewer.get(SET_UP)), database_now())
    assert 'href="/console/plans"' in send(viewer, code, SET_UP).content.decode()
    assert viewer.get("/console/plans").status_code == 200
    assert ActivityEntry.objects.get(action="agency.two_factor_required").changes == {"roles": [[], ["viewer"]]}
    owner.post(requirement, {})
    assert "Two-factor required" in text(owner.get("/console/activity"))


def test_a_workspace_s_owner_requires_it_there_alone_of_owner_and_members(a: Tenant) -> None:
    owner, staff = a_person(), at_the_console(a.agency)
    workspace, other = (WorkspaceFactory.create(agency=a.agency, owner_email=owner.email) for _ in range(2))
    browser, member = a_browser(owner), a_browser(WorkspaceMemberFactory.create(workspace=workspace).user)
    browser.post("/app/switch", {"workspace": str(workspace.uuid)})
    assert member.post("/app/settings/two-factor", {"required": "on"}).status_code == 403
    assert browser.post("/app/settings/two-factor", {"required": "on"})["Location"] == "/app/settings"
    for one in (browser, member):
        assert f"{workspace.name} requires a second step" in text(one.get("/app/channels"))
        assert one.post("/app/settings", {}).status_code == 403
    browser.post("/app/switch", {"workspace": str(other.uuid)})
    assert browser.get("/app/channels").status_code == 200
    staff.post(f"/console/sub-accounts/{workspace.uuid}/open")
    assert f"{workspace.name} requires a second step" in text(staff.get("/app/channels"))
    assert staff.get("/app/settings/two-factor").status_code == 403


def test_signing_in_costs_two_queries_more_and_no_page_any(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    browser.get("/console/plans")
    with CaptureQueriesContext(connection) as queries:
        browser.get("/console/plans")
    assert sum("agency_twofactor" in query["sql"] for query in queries) == 0
    assert sum("agency_usersession" in query["sql"] for query in queries) == 1
    with CaptureQueriesContext(connection) as queries:
        sign_in(a_browser(), member.user.email)
    assert sum("agency_twofactor" in query["sql"] for query in queries) == 2


def test_on_an_agency_s_host_the_app_says_its_name_and_sessions_elsewhere_are_not_named(a: Tenant, b: Tenant) -> None:
    person = a_member(a.agency).user
    here, there, outside = a_browser(), a_browser(), a_browser()
    for browser, tenant in ((here, a), (there, b)):
        browser.defaults["HTTP_HOST"] = DomainFactory.create(agency=tenant.agency, host=f"{tenant.mark}.localhost").host
    for browser in (here, there, outside):
        assert sign_in(browser, person.email).status_code == 302
    here.post(BEGIN)
    page = html.unescape(here.get(SET_UP).content.decode())
    assert "testserver" not in page
    name, secret = quote(a.agency.name), shown_secret(here.get(SET_UP))
    account = f"otpauth://totp/{name}:{quote(person.email)}?secret={secret}&issuer={name}"
    assert scanned(page) == account
    shown = text(here.get(SECURITY))
    assert (a.agency.name in shown, b.agency.name in shown, shown.count("Another address")) == (True, False, 2)
    assert a.agency.name in text(outside.get(SECURITY))
    assert b.agency.name in text(outside.get(SECURITY))
    code = code_at(shown_secret(here.get(SET_UP)), database_now())
    send(here, code, SET_UP)
    assert [is_in(browser) for browser in (here, there, outside)] == [True, False, False]

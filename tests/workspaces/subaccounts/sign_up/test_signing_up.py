"""The page on which customers sign up: where it is, what it takes, and that nobody learns there who has an account."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Mail, PendingSignUp, User
from agency.pages.forms import SALT, new_nonce
from agency.services import change_sign_up, suspend_agency
from agency.services.catalogue import open_sign_up_of
from agency.services.passwords import answer_address_requests
from tests.agency.account_work import work_of
from tests.agency.console.browsers import a_browser, a_member, a_person, hidden, text
from tests.factories import DomainFactory, PlanFactory, WorkspaceFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.sign_up.steps import (
    EMAIL,
    NEWCOMER,
    PAGE,
    PASSWORD,
    SENT,
    a_visitor,
    mails,
    open_sign_up,
    sign_up,
    signed_in_at,
)
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import create_workspace, signing_up

pytestmark = pytest.mark.django_db
PATHS = (PAGE, SENT, "/sign-up/confirm", "/sign-up/confirm/a-token")


def test_until_the_address_is_confirmed_there_is_a_row_without_a_readable_password_and_nothing_else(
    a: Tenant, visitor: Client
) -> None:
    people, before = User.objects.count(), now()
    answer = sign_up(visitor)
    assert (answer.status_code, answer["Location"]) == (302, SENT)
    pending = PendingSignUp.objects.get()
    assert (pending.agency, pending.email, pending.name) == (a.agency, EMAIL, "Ada Brandt")
    assert (pending.business, pending.business_type) == ("Ada's Flowers", "retail_ecommerce")
    assert pending.timezone == "Europe/Berlin"
    assert timedelta(hours=24) <= pending.expires_at - before < timedelta(hours=24, minutes=1)
    assert PASSWORD not in pending.password
    assert pending.password.startswith("md5$")
    assert User.objects.count() == people
    assert not Workspace.objects.exists()
    assert a.events == []


def test_the_mail_names_agency_and_business_and_leads_to_the_agency_s_host(
    a: Tenant, host: str, visitor: Client
) -> None:
    sign_up(visitor)
    (sent,) = mails()
    assert (sent.to, sent.subject) == ([EMAIL], "Confirm your e-mail address")
    assert sent.body.startswith("Hello Ada Brandt,")
    assert f"You have signed up at {a.agency.name} for the workspace “Ada's Flowers”" in sent.body
    links = re.findall(r"https?://\S+", sent.body)
    assert len(links) == 1
    assert links[0].startswith(f"http://{host}/sign-up/confirm/")
    assert PASSWORD not in sent.body
    assert "24 hours" in sent.body


def test_the_page_is_found_on_the_agency_s_hosts_alone(a: Tenant, host: str) -> None:
    assert a_visitor(host).get(PAGE).status_code == 200
    for other in ("testserver", "localhost", "nobody.example"):
        for path in PATHS:
            browser = a_visitor(other)
            assert browser.get(path).status_code == 404
            assert browser.post(path, NEWCOMER).status_code in (
                {404} if path != "/sign-up/confirm/a-token" else {404, 405}
            )


def test_a_form_that_came_to_nothing_may_be_sent_again(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, nonce = a_visitor(host), new_nonce(0)
    monkeypatch.setattr(signing_up, "CONFIRMED_WITHIN", timedelta(days=9_999_999))  # no such day: it fails
    with pytest.raises(OverflowError):
        sign_up(browser, nonce=nonce)
    monkeypatch.undo()
    for _ in range(2):
        assert sign_up(browser, nonce=nonce)["Location"] == SENT
    assert PendingSignUp.objects.count() == 1


def switch_off(agency: Agency) -> None:
    change_sign_up(agency=agency, plan=None, is_on=False, by=SYSTEM)


def suspend(agency: Agency) -> None:
    suspend_agency(agency=agency, reason="", now=now(), by=SYSTEM)


@pytest.mark.parametrize("close", [switch_off, suspend])
def test_switched_off_or_suspended_there_is_no_such_page(close: Callable[[Agency], None], a: Tenant, host: str) -> None:
    browser = a_visitor(host)
    page = browser.get(PAGE)
    close(a.agency)
    for path in (PAGE, SENT):
        assert browser.get(path).status_code == 404
    assert browser.post(PAGE, {**NEWCOMER, "nonce": hidden(page, "nonce")}).status_code == 404
    assert not PendingSignUp.objects.exists()


def test_it_is_off_until_the_agency_says_otherwise(a: Tenant) -> None:
    host = DomainFactory.create(agency=a.agency).host
    PlanFactory.create(agency=a.agency)
    assert a_visitor(host).get(PAGE).status_code == 404
    assert open_sign_up_of(a.agency) is None


def nobody(_: Agency) -> None:
    """An address that nobody here knows."""


def waiting(agency: Agency) -> None:
    sign_up(a_visitor(agency.domains.get().host))


def known(_: Agency) -> None:
    a_person(email=EMAIL)


def closed(_: Agency) -> None:
    a_person(email=EMAIL, is_active=False)


def invited(agency: Agency) -> None:
    create_workspace(agency=agency, name="Shop", owner_name="Ada", owner_email=EMAIL, now=now(), by=SYSTEM)


def test_unknown_known_waiting_invited_and_closed_addresses_are_answered_alike(b: Tenant) -> None:
    """The same statements, the same hashing, the same answer; only the e-mail tells, and only who reads it."""
    seen: list[Any] = []
    statements, subjects = [], []
    for prepare in (nobody, waiting, known, closed, invited):
        agency = Tenant().agency
        host = open_sign_up(agency)
        prepare(agency)
        mails()
        browser = a_visitor(host)
        browser.get(PAGE)
        work = work_of(partial(sign_up, browser, email=EMAIL))
        statements.append(work.statements)
        cookie = work.answer.cookies["sign-up"]
        body = browser.get(SENT).content.replace(agency.name.encode(), b"")
        seen.append((work.seen, work.hashed, len(cookie.value), cookie["max-age"], body))
        subjects.append([sent.subject for sent in mails()])
        User.objects.filter(email=EMAIL).update(email=f"{prepare.__name__}@example.com")
    assert all(one == seen[0] for one in seen)
    assert seen[0][1] == 1
    assert all(one == statements[0] for one in statements)
    known_mail = ["You already have an account"]
    assert subjects == [["Confirm your e-mail address"]] * 2 + [known_mail, [], known_mail]


def test_what_a_known_person_wrote_is_forgotten_once_it_is_seen_whose_address_it_is(host: str) -> None:
    a_person(email=EMAIL)
    sign_up(a_visitor(host))
    mails()
    assert not PendingSignUp.objects.exists()


def test_a_person_who_got_an_account_meanwhile_gets_an_e_mail_about_it(host: str) -> None:
    sign_up(a_visitor(host))
    a_person(email=EMAIL)
    (sent,) = mails()
    assert sent.subject == "You already have an account"


def known_mail_of(host: str) -> tuple[str, list[str]]:
    sign_up(a_visitor(host))
    (sent,) = mails()
    assert (sent.to, sent.subject) == ([EMAIL], "You already have an account")
    return sent.body, re.findall(r"https?://\S+", sent.body)


def test_a_known_person_learns_how_to_sign_in_and_to_add_a_workspace(a: Tenant, host: str) -> None:
    a_person(email=EMAIL, name="Ada")
    body, links = known_mail_of(host)
    assert a.agency.name in body
    assert "another workspace" in body
    assert links == [f"http://{host}/account/sign-in?next=%2Fapp%2Fworkspaces%2Fnew"]
    assert not PendingSignUp.objects.exists()


def test_a_customer_who_may_add_none_learns_how_to_sign_in(a: Tenant, host: str) -> None:
    WorkspaceFactory.create(agency=a.agency, owner_email=EMAIL)
    User.objects.filter(email=EMAIL).update(password="md5$x$x")
    body, links = known_mail_of(host)
    assert "another workspace" not in body
    assert links == [f"http://{host}/account/sign-in"]


def test_whoever_was_invited_and_has_no_password_gets_a_link_to_set_one(a: Tenant, host: str) -> None:
    invited(a.agency)
    mails()
    body, (link,) = known_mail_of(host)
    assert "It has no password yet" in body
    assert "/account/set-password/" in link


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "Your name: This field is required."),
        ({"name": "Ada of www.bad.example"}, "Your name: A name must not hold a web address."),
        ({"business": " "}, "Name of the business: This field is required."),
        ({"business": "Win at casino.example/now"}, "Name of the business: A name must not hold a web address."),
        ({"business": "x" * 121}, "Name of the business: Ensure this value has at most 120 characters"),
        ({"business": "a\u202eb"}, "Name of the business: Characters that override the direction of text"),
        ({"email": "nobody"}, "E-mail: Enter a valid email address."),
        ({"password": "short"}, "Password: This password is too short."),
        ({"password": "password1"}, "Password: This password is too common."),
        ({"password": "adaflowers", "email": "adaflowers@example.com"}, "Password: The password is too similar"),
        ({"timezone": "Mars/Olympus"}, "Time zone: Time zone not recognised."),
        ({"business_type": "pirates"}, "Business type: Select a valid choice."),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_what_was_typed_stays(
    fields: dict[str, str], message: str, visitor: Client
) -> None:
    answer = sign_up(visitor, **fields)
    assert answer.status_code == 422
    assert message in text(answer)
    page = answer.content.decode()
    assert 'aria-invalid="true"' in page
    assert f'value="{fields.get("password", PASSWORD)}"' not in page
    if "business" not in fields:
        assert "Ada&#x27;s Flowers" in page
    assert not PendingSignUp.objects.exists()
    assert mails() == []


def test_browsers_know_what_each_field_is_for(visitor: Client) -> None:
    page = visitor.get(PAGE).content.decode()
    fields = dict(re.findall(r'<input type="[a-z]+" name="([a-z]+)"[^>]*? autocomplete="([a-z-]+)"', page))
    wanted = {"name": "name", "business": "organization", "email": "email", "password": "new-password"}
    assert fields == wanted
    assert re.search(r"<select[^>]* name=.timezone.", page)
    assert "data-guess-time-zone" in page
    assert '<option value="UTC" selected>' in page


def test_nothing_is_chosen_for_whoever_has_chosen(visitor: Client) -> None:
    answer = sign_up(visitor, name="")
    assert b"data-guess-time-zone" not in answer.content
    assert b'<option value="Europe/Berlin" selected>' in answer.content


def test_terms_and_privacy_notice_are_agreed_to_where_the_agency_has_them(a: Tenant) -> None:
    terms, privacy = "https://north.example.com/terms", "https://north.example.com/privacy#customers"
    browser = a_visitor(open_sign_up(a.agency, terms_url=terms, privacy_url=privacy))
    page = browser.get(PAGE).content.decode()
    assert f'<a href="{terms}" target="_blank" rel="noopener noreferrer">terms</a>' in page
    assert f'<a href="{privacy}" target="_blank" rel="noopener noreferrer">privacy notice</a>' in page
    refused = sign_up(browser)
    assert (refused.status_code, "Terms: Without this you cannot sign up." in text(refused)) == (422, True)
    assert sign_up(browser, agreed="on").status_code == 302
    pending = PendingSignUp.objects.get()
    assert (pending.terms_url, pending.privacy_url) == (terms, privacy)


def test_without_links_there_is_nothing_to_tick(visitor: Client) -> None:
    assert b"agreed" not in visitor.get(PAGE).content


def test_a_form_sent_twice_counts_once(visitor: Client) -> None:
    nonce = hidden(visitor.get(PAGE), "nonce")
    for _ in range(2):
        assert sign_up(visitor, nonce=nonce)["Location"] == SENT
    answer_address_requests()
    assert PendingSignUp.objects.count() == Mail.objects.count() == 1


def test_a_refused_form_keeps_its_nonce_and_may_be_sent_again(visitor: Client) -> None:
    nonce = hidden(visitor.get(PAGE), "nonce")
    assert hidden(sign_up(visitor, nonce=nonce, name=""), "nonce") == nonce
    assert sign_up(visitor, nonce=nonce).status_code == 302


@pytest.mark.parametrize(
    "nonce",
    [
        "",
        "made-up",
        pytest.param(signing.dumps([0, "x"], salt="elsewhere"), id="signed-for-another-page"),
        "of a person",
    ],
)
def test_a_form_that_is_not_ours_does_nothing(nonce: str, visitor: Client) -> None:
    answer = sign_up(visitor, nonce=new_nonce(a_person().pk) if nonce == "of a person" else nonce)
    assert answer.status_code == 422
    assert "This form is out of date" in text(answer)
    assert signing.loads(hidden(answer, "nonce"), salt=SALT)[0] == 0
    assert not PendingSignUp.objects.exists()


def test_nobody_has_an_address_sent_more_than_three_mails(host: str) -> None:
    browser = a_visitor(host)
    for _ in range(5):
        assert sign_up(browser)["Location"] == SENT
    assert PendingSignUp.objects.count() == 3
    sign_up(a_visitor(host))
    assert PendingSignUp.objects.count() == 4


def test_nobody_signs_up_with_very_many_addresses(host: str) -> None:
    browser = a_visitor(host)
    answers = [sign_up(browser, email=f"person-{number}@example.com") for number in range(21)]
    assert {answer.status_code for answer in answers[:20]} == {302}
    assert answers[20].status_code == 429
    assert "Too many requests from your network." in text(answers[20])
    assert PendingSignUp.objects.count() == 20


def test_an_agency_without_room_says_so_kindly_and_keeps_nothing(a: Tenant, host: str) -> None:
    browser = a_visitor(host)
    nonce = hidden(browser.get(PAGE), "nonce")
    Agency.objects.filter(pk=a.agency.pk).update(max_sub_accounts=0)
    for answer in (browser.get(PAGE), browser.post(PAGE, {**NEWCOMER, "nonce": nonce})):
        assert answer.status_code == 403
        assert "We cannot take new customers at the moment" in text(answer)
        assert a.agency.name in text(answer)
    assert not PendingSignUp.objects.exists()


def test_whoever_has_signed_in_is_led_to_where_they_can_go(a: Tenant, host: str) -> None:
    browser = signed_in_at(a.agency, a_person())
    assert browser.get(PAGE)["Location"] == "/app/workspaces/new"
    change_sign_up(agency=a.agency, plan=open_plan(a.agency), is_on=True, by=SYSTEM)
    customer = signed_in_at(a.agency, a.workspace.owner)
    assert customer.get(PAGE)["Location"] == "/app/"


def open_plan(agency: Agency) -> Any:
    return agency.plans.get(is_default=True)


def test_the_sign_in_page_leads_there_where_it_is_open(a: Tenant, host: str) -> None:
    assert b'href="/sign-up"' in a_visitor(host).get("/account/sign-in").content
    assert b'href="/sign-up"' not in a_browser().get("/account/sign-in").content
    switch_off(a.agency)
    assert b'href="/sign-up"' not in a_visitor(host).get("/account/sign-in").content


def test_pages_are_kept_by_no_cache_and_name_the_agency(a: Tenant, host: str, visitor: Client) -> None:
    for path in (PAGE, SENT):
        answer = visitor.get(path)
        assert "no-store" in answer["Cache-Control"]
        assert a.agency.name in answer.content.decode()


def test_a_suspended_agency_takes_nobody_and_its_domain_opens_none_of_its_doors(a: Tenant, visitor: Client) -> None:
    before = visitor.get(PAGE).status_code
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    assert (before, visitor.get(PAGE).status_code, sign_up(visitor).status_code) == (200, 404, 404)
    assert not PendingSignUp.objects.exists()
    assert mails() == []
    for path, key in (("/api/agency/v1/plans", a.plaintext), ("/api/v1/contacts", a.workspace_plaintext)):
        assert visitor.get(path, headers={"x-api-key": key}).status_code == 403
    assert visitor.get("/account/sign-in").status_code == 200
    for person, page in ((a.workspace.owner, "/app/contacts"), (a_member(a.agency).user, "/console/sub-accounts")):
        answer = signed_in_at(a.agency, person).get(page, follow=True)
        assert (answer.status_code, a.contact.name in text(answer)) == (403, False), page
        assert "suspended" in text(answer), page

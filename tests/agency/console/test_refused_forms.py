"""A form that was refused is shown again by GET: to whom, for how long, how much of it, and what becomes of it."""

import base64
import os
from typing import Any

import pytest
import redis
from cryptography.fernet import Fernet
from django.conf import settings as project
from django.test import Client

from agency.models import Member
from agency.pages.forms import VALUE, new_nonce
from agency.pages.invalid_forms import MOST_PAGES, SECONDS
from config import redis as config_redis
from packs.models import Pack
from tests import furnished
from tests.agency.console.browsers import PASSWORD, a_browser, a_member, a_person, flashes, hidden
from tests.database.emptying import forget_counters
from tests.factories import AgencyFactory, MemberFactory
from tests.tenants import Tenant, an_address
from tests.workspaces.subaccounts.sign_up.test_confirming import dying

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
BROWSING = {"Sec-Fetch-Mode": "navigate"}
NEW_PLAN = "/console/plans/new"
SIGN_IN = "/account/sign-in"
TYPED = "For those who grow"


def refused(browser: Client, path: str = NEW_PLAN, **fields: str) -> Any:
    """Send a plan without a name."""
    return browser.post(path, {"description": TYPED, **fields}, headers=BROWSING)


def led_to(answer: Any) -> str:
    assert answer.status_code == 303, answer.content
    return str(answer["Location"])


def shows(browser: Client, address: str, typed: str = TYPED) -> bool:
    """Whether the page at an address has what was typed."""
    page = browser.get(address, headers=BROWSING)
    assert page.status_code == 200
    return typed in page.content.decode()


def stored() -> "redis.Redis":
    return redis.Redis.from_url(project.REDIS_URL)


def without_order(kilobytes: int) -> str:
    """Text that takes about as much room when it is compressed."""
    return base64.b64encode(os.urandom(kilobytes * 1024)).decode()


# What it is good for --------------------------------------------------------------------------------------


def test_back_and_reload_show_what_was_typed_and_why_it_was_refused(admin: Client) -> None:
    address = led_to(refused(admin))
    for _ in range(2):
        page = admin.get(address, headers=BROWSING)
        assert page.status_code == 200
        assert TYPED in page.content.decode()
        assert "Error" in page.content.decode().partition("</title>")[0]
        assert 'role="alert" tabindex="-1" autofocus' in page.content.decode()
    head = admin.head(address, headers=BROWSING)
    assert (head.status_code, head["Content-Type"]) == (200, page["Content-Type"])


@pytest.mark.parametrize("mode", [None, "cors", "same-origin"])
def test_programs_and_scripts_are_answered_directly(mode: str | None, admin: Client) -> None:
    headers = {"Sec-Fetch-Mode": mode} if mode else {}
    assert admin.post(NEW_PLAN, {"description": TYPED}, headers=headers).status_code == 422
    address = led_to(refused(admin))
    assert TYPED not in admin.get(address, headers=headers).content.decode()


def test_a_page_that_was_refused_can_be_sent_again_and_is_dropped_with_success(a: Tenant) -> None:
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    browser.force_login(a_member(a.agency).user)
    edit = f"/console/plans/{a.plan.uuid}/edit"
    page = browser.get(edit, headers=BROWSING)
    fields = {name: hidden(page, name) for name in ("csrfmiddlewaretoken", "nonce", "made_for")}
    address = led_to(browser.post(edit, {**fields, "description": TYPED}, headers=BROWSING))
    page = browser.get(address, headers=BROWSING)
    fields = {name: hidden(page, name) for name in ("csrfmiddlewaretoken", "nonce", "made_for")}
    assert led_to(browser.post(address, {**fields, "description": "Again"}, headers=BROWSING)) == address
    assert shows(browser, address, "Again")
    sent = {**fields, "name": "Growth", "description": "What is saved now"}
    assert browser.post(address, sent, headers=BROWSING).status_code == 302
    assert shows(browser, address, "What is saved now")


def test_a_form_that_makes_something_leads_to_it_although_it_was_refused_before(a: Tenant, admin: Client) -> None:
    opened = admin.get("/console/packs/new", headers=BROWSING)["Location"]
    nonce = hidden(admin.get(opened, headers=BROWSING), "nonce")
    assert led_to(admin.post(opened, {"name": "", "nonce": nonce}, headers=BROWSING)) == opened
    assert hidden(admin.get(opened, headers=BROWSING), "nonce") == nonce
    made = admin.post(opened, {"name": "Starter", "nonce": nonce}, headers=BROWSING)["Location"]
    refusal = led_to(admin.post(opened, {"name": "", "nonce": new_nonce(0)}, headers=BROWSING))
    assert refusal == opened
    assert admin.get(opened, headers=BROWSING)["Location"] == made
    assert Pack.objects.count() == 1


def test_no_message_is_lost_and_none_is_shown_twice(a: Tenant, admin: Client) -> None:
    address = led_to(refused(admin))
    admin.post(f"/console/plans/{a.plan.uuid}/default", {"default": "yes"})  # in another tab
    assert flashes(admin.get(address, headers=BROWSING)) == []
    assert len(flashes(admin.get("/console/"))) == 1
    assert flashes(admin.get("/console/")) == []


# To whom -------------------------------------------------------------------------------------------------------


def test_nobody_else_is_shown_it(a: Tenant) -> None:
    member = a_member(a.agency)
    browser, address = a_browser(member.user), ""
    address = led_to(refused(browser))
    assert shows(browser, address)
    assert not shows(a_browser(member.user), address)
    assert not shows(a_browser(a_member(a.agency).user), address)
    assert "sign-in" in a_browser().get(address, headers=BROWSING)["Location"]
    other_page = address.replace(NEW_PLAN, "/console/packs/new")
    assert not shows(browser, other_page)


def test_it_is_not_shown_after_the_person_has_signed_out(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    address = led_to(refused(browser))
    browser.post("/account/sign-out")
    for email in (a_member(a.agency).user.email, member.user.email):
        assert browser.post(SIGN_IN, {"email": email, "password": PASSWORD}).status_code == 302
        assert not shows(browser, address)
        browser.post("/account/sign-out")


def test_it_is_not_shown_in_another_agency_or_after_a_lost_role(a: Tenant) -> None:
    person, other = a_person(), AgencyFactory.create(name="Zzz")
    for agency in (a.agency, other):
        MemberFactory.create(agency=agency, email=person.email, role="admin")
    browser = a_browser(person)
    browser.post("/console/switch", {"agency": str(a.agency.uuid)})
    address = led_to(refused(browser))
    browser.post("/console/switch", {"agency": str(other.uuid)})
    assert not shows(browser, address)
    browser.post("/console/switch", {"agency": str(a.agency.uuid)})
    assert shows(browser, address)
    Member.objects.filter(agency=a.agency, user=person).update(role="viewer")
    assert browser.get(address, headers=BROWSING).status_code == 403


def test_a_browser_in_which_nobody_has_signed_in_is_known_by_its_cookie(a: Tenant) -> None:
    browser = a_browser()
    address = led_to(browser.post(f"{SIGN_IN}?next=/app/", {"email": "typed@example.com"}, headers=BROWSING))
    assert address.startswith(f"{SIGN_IN}?next=%2Fapp%2F&form=")
    assert shows(browser, address, "typed@example.com")
    assert not shows(a_browser(), address, "typed@example.com")
    browser.cookies.clear()
    assert not shows(browser, address, "typed@example.com")


def test_the_page_that_a_form_was_sent_from_is_known_by_its_referer(a: Tenant) -> None:
    browser, before = a_browser(), f"http://testserver{SIGN_IN}?next=/app/"
    sent = {"email": "typed@example.com"}
    address = led_to(browser.post(SIGN_IN, sent, headers={**BROWSING, "Referer": before}))
    assert address.startswith(f"{SIGN_IN}?next=%2Fapp%2F&form=")
    for elsewhere in ("http://other.example.com/account/sign-in?a=b", "http://testserver/else?a=b", "http://[", "\xff"):
        answer = browser.post(SIGN_IN, sent, headers={**BROWSING, "Referer": elsewhere})
        assert VALUE.fullmatch(led_to(answer).removeprefix(f"{SIGN_IN}?form=")), elsewhere
    member = a_member(a.agency)
    data = {"email": member.user.email, "password": PASSWORD}
    browser.post(SIGN_IN, data, headers={**BROWSING, "Referer": f"http://testserver{address}"})
    browser.post("/account/sign-out")
    assert not shows(browser, address, "typed@example.com")


# Addresses that somebody else has made up ------------------------------------------------------------------------

LENGTHS = ("", "x", "A" * 15, "A" * 17, "A" * 5000)
MADE_UP = (*LENGTHS, "../../../../../..", "<script>alert(1)", "AAAAAAAAAAAAAAA\n", "ÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄ")


def test_an_address_that_somebody_has_made_up_does_nothing(a: Tenant) -> None:
    member = a_member(a.agency)
    browser, values = a_browser(member.user), [*MADE_UP, new_nonce(member.user.pk), "A" * 16]
    for path in (f"/console/plans/{a.plan.uuid}/edit", SIGN_IN):
        plain = browser.get(path, headers=BROWSING)
        for value in values:
            made_up = browser.get(path, {"form": value}, headers=BROWSING)
            assert made_up.status_code == plain.status_code, value
            assert value not in made_up.content.decode() or len(value) < 2, value
    for value in values:
        creating = browser.get(NEW_PLAN, {"form": value}, headers=BROWSING)
        if VALUE.fullmatch(value):
            assert creating.status_code == 200, value
        else:
            assert VALUE.fullmatch(creating["Location"].removeprefix(f"{NEW_PLAN}?form=")), value
    sent = browser.post(f"{NEW_PLAN}?form=x", {"name": "Growth", "nonce": new_nonce(member.user.pk)}, headers=BROWSING)
    assert sent.status_code == 302


# How much, and for how long ------------------------------------------------------------------------------------------


def test_it_ends_by_itself_and_is_stored_encrypted(a: Tenant, admin: Client, settings: Any) -> None:
    before = set(stored().keys("refused-page:*"))
    address = led_to(refused(admin))
    (key,) = set(stored().keys("refused-page:*")) - before
    assert 0 < stored().pttl(key) <= SECONDS * 1000
    content = stored().get(key)
    assert content is not None
    assert TYPED.encode() not in content
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.FIELD_ENCRYPTION_KEYS]
    assert shows(admin, address)
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    assert not shows(admin, address)
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    stored().pexpire(key, 0)
    assert not shows(admin, address)


def test_a_page_that_is_too_large_is_answered_directly(admin: Client) -> None:
    typed = without_order(300)
    answer = refused(admin, description=typed)
    assert answer.status_code == 422
    assert typed[:60] in answer.content.decode()


def test_the_oldest_page_of_a_browser_goes(admin: Client) -> None:
    addresses = [led_to(refused(admin)) for _ in range(MOST_PAGES + 1)]
    assert [shows(admin, address) for address in addresses] == [False] + [True] * MOST_PAGES


def test_what_a_person_may_have_kept_is_bounded_and_takes_no_room_from_others(a: Tenant) -> None:
    person, before = a_member(a.agency).user, set(stored().keys("refused-page:*"))
    answers = [refused(a_browser(person), description=without_order(150)) for _ in range(12)]
    statuses = [answer.status_code for answer in answers]
    assert statuses == sorted(statuses)
    assert set(statuses) == {303, 422}
    size = sum(stored().strlen(key) for key in set(stored().keys("refused-page:*")) - before)
    assert size <= 2 * 1024 * 1024
    assert TYPED in answers[0].content.decode() or answers[0].status_code == 303
    assert led_to(refused(a_browser(a_member(a.agency).user)))


def test_what_an_address_of_strangers_may_have_kept_is_bounded(a: Tenant) -> None:
    address, before = an_address(), set(stored().keys("refused-page:*"))

    def guess(size: int) -> Any:
        browser = Client(REMOTE_ADDR=address)
        return browser.post(SIGN_IN, {"email": without_order(size)}, headers=BROWSING)

    statuses = [guess(150).status_code for _ in range(8)]
    assert statuses == sorted(statuses)
    assert set(statuses) == {303, 422}
    size = sum(stored().strlen(key) for key in set(stored().keys("refused-page:*")) - before)
    assert size <= 1024 * 1024
    assert led_to(a_browser().post(SIGN_IN, {"email": "typed"}, headers=BROWSING))
    here = Client(REMOTE_ADDR=address)
    here.force_login(a_member(a.agency).user)
    assert led_to(refused(here))


@pytest.mark.parametrize("group", ["strangers", "people"])
def test_what_all_together_may_have_kept_is_bounded(group: str, a: Tenant) -> None:
    forget_counters()
    counter = f"limit:refused-pages:{group}"
    led_to(refused(a_browser(a_member(a.agency).user)))
    led_to(a_browser().post(SIGN_IN, {"email": "typed"}, headers=BROWSING))
    assert 0 < stored().pttl(counter) <= SECONDS * 1000
    stored().set(counter, 10**12)
    statuses = {
        "people": refused(a_browser(a_member(a.agency).user)).status_code,
        "strangers": a_browser().post(SIGN_IN, {"email": "typed"}, headers=BROWSING).status_code,
    }
    assert statuses == {"people": 303, "strangers": 303} | {group: 422}
    assert stored().pttl(counter) > 0  # it would refuse for ever without an end
    forget_counters()


def test_with_redis_away_everything_is_answered_directly(admin: Client, settings: Any) -> None:
    address, there = led_to(refused(admin)), settings.REDIS_URL
    settings.REDIS_URL = "unix:///nonexistent/redis.sock?db=0"
    config_redis.client.cache_clear()
    answer = refused(admin)
    assert (answer.status_code, TYPED in answer.content.decode()) == (422, True)
    assert not shows(admin, address)
    assert admin.post(address, {"name": "Growth"}, headers=BROWSING).status_code == 302
    settings.REDIS_URL = there
    config_redis.client.cache_clear()
    config_redis.circuit_breaker.close()


@pytest.mark.django_db(transaction=True)
def test_a_page_that_says_that_the_fault_is_ours_is_no_refusal(a: Tenant) -> None:
    browser = a_browser(a_member(a.agency).user)
    browser.raise_request_exception = False
    browser.get(NEW_PLAN)  # gives it the cookie
    with dying("agency_plan"):
        assert browser.post(NEW_PLAN, {"name": "Growth"}, headers=BROWSING).status_code in {500, 503}

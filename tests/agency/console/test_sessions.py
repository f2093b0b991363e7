"""The browsers in which somebody is signed in: listed, and ended from elsewhere at once."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.account.sessions import describe_browser
from agency.actors import SYSTEM
from agency.models import ActivityEntry, Mail, RecoveryCode, TwoFactor, User, UserSession
from agency.services.mail.content import render_mail
from agency.services.passwords import end_session
from config.operations.erasure import close_account, personal_data_of
from tests.agency.console.browsers import PASSWORD, a_browser, a_person, flashes, text
from tests.agency.console.test_signing_in import sign_in
from tests.agency.two_factor import an_app

pytestmark = pytest.mark.django_db
SECURITY, END, END_OTHERS = "/account/security", "/account/sessions/end", "/account/sessions/end-others"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1"


@pytest.fixture
def person() -> User:
    return a_person(name="Ada")


def signed_in(person: User, user_agent: str = FIREFOX) -> Client:
    browser = a_browser()
    browser.defaults["HTTP_USER_AGENT"] = user_agent
    assert sign_in(browser, person.email).status_code == 302
    return browser


def is_in(browser: Client) -> bool:
    return browser.get(SECURITY).status_code == 200


def ids(browser: Client) -> list[str]:
    return re.findall(r'name="session" value="(\w+)"', browser.get(SECURITY).content.decode())


def test_each_is_described_and_none_gives_its_key_away(person: User) -> None:
    here, there = signed_in(person), signed_in(person, PHONE)
    page = here.get(SECURITY)
    assert "Firefox on Windows This browser" in text(page)
    assert "Safari on iPhone" in text(page)
    assert str(there.defaults["REMOTE_ADDR"]) in text(page)
    keys = UserSession.objects.values_list("session_key", flat=True)
    assert len(keys) == 2
    assert not any(key in page.content.decode() for key in keys)


def test_a_browser_is_named_in_the_reader_s_language(person: User) -> None:
    User.objects.filter(pk=person.pk).update(language="de")
    here = signed_in(person)
    for user_agent in (PHONE, "curl/8.0"):
        signed_in(person, user_agent)
    page = here.get(SECURITY)
    assert "Firefox unter Windows" in text(page)
    assert 'aria-label="Abmelden: Unbekannter Browser"' in page.content.decode()
    told = Mail.objects.filter(kind=Mail.Kind.NEW_SIGN_IN).earliest("id")
    assert "mit einem neuen Browser" in str(render_mail(told, link="").body)
    assert "Safari unter iPhone" in str(render_mail(told, link="").body).replace("\n", " ")


def test_one_is_ended_from_another_at_once(person: User) -> None:
    here, there, third = (signed_in(person) for _ in range(3))
    [theirs] = [one for one in ids(here) if one not in _own(here) + _own(third)]
    assert flashes(here.post(END, {"session": theirs}, follow=True)) == ["That browser is signed out."]
    assert [is_in(browser) for browser in (here, there, third)] == [True, False, True]
    assert there.post("/account/profile", {"name": "Eve"})["Location"].startswith("/account/sign-in")
    assert flashes(here.post(END, {"session": theirs}, follow=True)) == ["That session has already ended."]
    assert ActivityEntry.objects.get(action="session.ended").details == {"number": 1}


def _own(browser: Client) -> list[str]:
    """The id of the browser's own session, which stands first."""
    return ids(browser)[:1]


def test_all_others_are_ended_at_once(person: User) -> None:
    here, others, stranger = signed_in(person), [signed_in(person) for _ in range(3)], signed_in(a_person())
    here.post(END_OTHERS)
    assert [is_in(browser) for browser in (here, *others, stranger)] == [True, False, False, False, True]


def test_nobody_ends_another_person_s(person: User) -> None:
    here, stranger = signed_in(person), signed_in(a_person())
    for asked in (*ids(stranger), stranger.cookies["session"].value, "", "é", "x" * 5000):
        assert flashes(here.post(END, {"session": asked}, follow=True)) == ["That session has already ended."]
    assert not end_session(user=person, key=stranger.cookies["session"].value, by=SYSTEM)
    assert is_in(stranger)


def test_ending_one_s_own_signs_out(person: User) -> None:
    here = signed_in(person)
    assert here.post(END, {"session": ids(here)[0]})["Location"] == "/account/sign-in"
    assert not UserSession.objects.filter(user=person).exists()


def test_a_new_password_ends_the_others(person: User) -> None:
    here, there = signed_in(person), signed_in(person)
    new = "a-new-battery-staple"
    here.post("/account/password", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert UserSession.objects.filter(user=person).count() == 1
    assert (is_in(here), is_in(there)) == (True, False)
    assert "Firefox on Windows" in text(here.get(SECURITY))  # the facts outlive the key


def test_an_erased_person_has_none(person: User) -> None:
    an_app(person)
    here = a_browser(person)
    close_account(person, personal_data_of(person), None)
    assert not is_in(here)
    for model in (UserSession, TwoFactor, RecoveryCode):
        assert not model.objects.filter(user=person).exists()


def test_a_session_in_use_is_noted_once_in_five_minutes_and_a_page_asks_for_no_more(person: User) -> None:
    here = signed_in(person)
    here.get("/account/profile")

    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            here.get("/account/profile")
        return [query["sql"].split()[0] for query in queries if "agency_usersession" in query["sql"]]

    assert statements() == ["SELECT"]
    long_ago = now() - timedelta(minutes=6)
    UserSession.objects.update(last_seen_at=long_ago)
    assert statements() == ["SELECT", "UPDATE"]
    assert UserSession.objects.get().last_seen_at > long_ago + timedelta(minutes=5)
    assert statements() == ["SELECT"]


def test_the_page_costs_the_same_for_many(person: User) -> None:
    here = signed_in(person)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            here.get(SECURITY)
        counts.append(len(queries))
        for _ in range(5):
            signed_in(person)
    assert counts[0] == counts[1] <= 12


def test_at_most_fifty_are_shown(person: User) -> None:
    later = now() + timedelta(days=1)
    UserSession.objects.bulk_create(
        UserSession(session_key=f"key-{number}", session_data="", expire_date=later, user=person)
        for number in range(60)
    )
    assert len(ids(signed_in(person))) == 50


def test_a_browser_that_is_not_known_is_reported_by_mail(person: User) -> None:
    here = signed_in(person)
    assert not Mail.objects.exists()  # the very first
    here.post("/account/sign-out")
    sign_in(here, person.email)
    assert not Mail.objects.exists()
    signed_in(person, PHONE)
    told = Mail.objects.get(kind=Mail.Kind.NEW_SIGN_IN)
    assert told.context["browser"] == "Safari on iPhone"


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (FIREFOX, "Firefox on Windows"),
        (PHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on macOS"),
        ("curl/8.0", "Unknown browser"),
        ("<script>", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_browsers_are_described(user_agent: str, words: str) -> None:
    assert describe_browser(user_agent) == words

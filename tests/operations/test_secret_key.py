"""SECRET_KEY is changed while people are at work: with the old one among SECRET_KEY_FALLBACKS nobody notices."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from django.test import Client, override_settings

from agency.account.sign_in import SIGN_UPS_OF_ACCOUNT, account_digest
from agency.models import Mail, PendingSignUp
from agency.pages.forms import new_nonce, read_nonce
from tests.agency.console.browsers import a_browser, a_member, a_person
from tests.agency.console.test_passwords import ask
from tests.agency.console.test_passwords import the_link as password_link
from tests.agency.console.test_signing_in import sign_in
from tests.agency.console.two_factor_pages import CODE, is_in, past_the_password, send
from tests.agency.invitations import invited, mailed_link
from tests.agency.two_factor import an_app
from tests.operations.settings_starts import Complaints
from tests.operations.test_settings import PRODUCTION
from tests.tenants import Tenant
from tests.workspaces.subaccounts.sign_up.steps import EMAIL, a_visitor, open_sign_up, press, sign_up
from tests.workspaces.subaccounts.sign_up.steps import the_link as sign_up_link

pytestmark = pytest.mark.django_db
OLD, NEW = "an-old-key-" * 5, "a-new-key-" * 5


@contextmanager
def _old() -> Iterator[None]:
    with override_settings(SECRET_KEY=OLD):
        yield


def rotated() -> AbstractContextManager[Any]:
    return override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[OLD])


def replaced() -> AbstractContextManager[Any]:
    return override_settings(SECRET_KEY=NEW)


def test_sessions_go_on_and_are_signed_anew(a: Tenant) -> None:
    with _old():
        signed_in, other = a_browser(), a_browser()
        person = a_member(a.agency).user
        for browser in (signed_in, other):
            sign_in(browser, person.email)
    with rotated():
        assert is_in(signed_in)
    with replaced():
        assert is_in(signed_in)  # it was used meanwhile
        assert not is_in(other)


def test_who_has_shown_the_password_may_still_show_the_code() -> None:
    person = a_person()
    app = an_app(person)
    with _old():
        browser = past_the_password(person)
    with rotated():
        assert send(browser, app.code())["Location"] != CODE
        assert is_in(browser)


def test_a_browser_stays_known(a: Tenant) -> None:
    with _old():
        browser, person = a_browser(), a_member(a.agency).user
        sign_in(browser, person.email)
        browser.post("/account/sign-out")
    with rotated():
        sign_in(browser, person.email)
        browser.post("/account/sign-out")
    with replaced():
        sign_in(browser, person.email)
    assert not Mail.objects.filter(kind=Mail.Kind.NEW_SIGN_IN).exists()


def test_invitations_are_still_answered(a: Tenant) -> None:
    with _old():
        invited(a.agency, "nora@example.com")
        link = mailed_link()
    with rotated():
        assert a_browser().get(link).status_code == 302
    with replaced():
        assert a_browser().get(link).status_code != 302


def test_links_to_set_a_password_still_work(a: Tenant) -> None:
    with _old():
        ask(a_member(a.agency).user.email)
        link = password_link()
    with rotated():
        assert a_browser().get(link).status_code == 302
    with replaced():
        assert a_browser().get(link).status_code == 410


def test_sign_ups_are_still_confirmed(a: Tenant) -> None:
    SIGN_UPS_OF_ACCOUNT.reset(account_digest(EMAIL))
    host = open_sign_up(a.agency)
    with _old():
        browser: Client = a_visitor(host)
        sign_up(browser)
        link = sign_up_link(host)
    with rotated():
        press(browser, link)
        assert PendingSignUp.objects.get().confirmed_at is not None


def test_forms_that_are_open_are_still_sent() -> None:
    with _old():
        nonce = new_nonce(7)
    with rotated():
        found = read_nonce(nonce)
        assert found is not None
        assert found.user == 7
    with replaced():
        assert read_nonce(nonce) is None


def test_older_keys_are_read_and_held_to_the_same_measure(complaints: Complaints) -> None:
    good = f"{PRODUCTION['SECRET_KEY'][::-1]},{PRODUCTION['SECRET_KEY'].lower()}"
    assert complaints(PRODUCTION | {"SECRET_KEY_FALLBACKS": good}) == ""
    said = complaints(PRODUCTION | {"SECRET_KEY_FALLBACKS": f"{PRODUCTION['SECRET_KEY']},short"})
    assert "SECRET_KEY_FALLBACKS holds a key that is short, repetitive or an example" in said

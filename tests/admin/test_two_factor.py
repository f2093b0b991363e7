"""Support and two-factor: in production nobody sees the admin without, and a superuser helps whoever lost theirs."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client

from agency.models import ActivityEntry, Mail, TwoFactor, User
from config.db import database_now
from tests.agency.console.browsers import text
from tests.agency.console.two_factor_pages import SET_UP, shown_secret
from tests.agency.two_factor import an_app, code_at

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Client]
INDEX = "What support can see and do"


@pytest.fixture
def _production(settings: Any) -> None:
    settings.SUPPORT_NEEDS_TWO_FACTOR = True


@pytest.mark.usefixtures("_production")
def test_at_the_first_sign_in_a_superuser_is_led_to_set_it_up(superuser: User, sign_in: SignIn) -> None:
    browser = sign_in(superuser)
    for path in ("/admin/", "/admin/agency/agency/", "/admin/agency/user/add/"):
        page = browser.get(path, follow=True)
        assert "Support requires a second step" in text(page)
        assert INDEX not in text(page)
    assert browser.post("/admin/agency/user/add/", {"email": "eve@example.com", "name": "Eve"}).status_code == 302
    assert not User.objects.filter(email="eve@example.com").exists()
    browser.post("/account/two-factor/begin", {"next": "/admin/"})
    code = code_at(shown_secret(browser.get(SET_UP)), database_now())
    page = browser.post(SET_UP, {"code": code})
    assert 'href="/admin/"' in page.content.decode()
    assert INDEX in text(browser.get("/admin/"))


@pytest.mark.usefixtures("_production")
def test_from_then_on_the_admin_asks_for_a_code(superuser: User, sign_in: SignIn) -> None:
    app = an_app(superuser)
    browser = sign_in(superuser)
    assert browser.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/admin/login/")
    assert browser.post("/account/code", {"code": app.wrong_code()}).status_code == 422
    assert browser.post("/account/code", {"code": app.code()})["Location"] == "/admin/"
    assert INDEX in text(browser.get("/admin/"))
    assert browser.get("/admin/login/")["Location"] == "/admin/"


def test_elsewhere_it_is_each_one_s_own_choice(superuser: User, sign_in: SignIn) -> None:
    assert INDEX in text(sign_in(superuser).get("/admin/"))
    app = an_app(superuser)
    browser = sign_in(superuser)
    assert browser.get("/admin/").status_code == 302
    browser.post("/account/code", {"code": app.code()})
    assert INDEX in text(browser.get("/admin/"))


@pytest.mark.usefixtures("_production")
def test_a_console_s_session_with_a_code_opens_nothing_here(superuser: User) -> None:
    app = an_app(superuser)
    browser = Client()
    browser.post("/account/sign-in", {"email": superuser.email, "password": "correct-horse-battery"})
    browser.post("/account/code", {"code": app.code()})
    assert browser.get("/account/profile").status_code == 200
    assert browser.get("/admin/").status_code == 302


def test_support_takes_it_from_who_has_lost_it_after_typing_their_address(
    support: Client, person: Callable[..., User]
) -> None:
    somebody = person()
    an_app(somebody)
    browser = Client()
    browser.force_login(somebody)
    page = f"/admin/agency/user/{somebody.pk}/two-factor/"
    assert "Reset two-factor" in text(support.get(f"/admin/agency/user/{somebody.pk}/change/"))
    assert "This is not its name" in text(support.post(page, {"typed_name": "somebody@else.example"}))
    assert TwoFactor.objects.filter(user=somebody).exists()
    support.post(page, {"typed_name": somebody.email.upper()})
    assert not TwoFactor.objects.filter(user=somebody).exists()
    assert browser.get("/account/profile").status_code == 302
    assert Mail.objects.filter(user=somebody).latest("id").context == {"change": "reset"}
    entry = ActivityEntry.objects.get(action="two_factor.reset")
    assert (entry.actor_kind, entry.target_id) == ("staff", str(somebody.pk))
    assert "was not set up" in text(support.post(page, {"typed_name": somebody.email}, follow=True))
    assert support.get("/admin/agency/user/999999/two-factor/").status_code == 404


def test_only_a_superuser_takes_it_from_support_staff(
    superuser: User, person: Callable[..., User], sign_in: SignIn
) -> None:
    helper = person(is_staff=True)
    helper.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "change_user"]))
    an_app(superuser)
    page = f"/admin/agency/user/{superuser.pk}/two-factor/"
    assert sign_in(helper).post(page, {"typed_name": superuser.email}).status_code == 403
    assert TwoFactor.objects.filter(user=superuser).exists()


def test_the_operator_resets_it_from_the_command_line(superuser: User) -> None:
    an_app(superuser)
    out = io.StringIO()
    call_command("reset_two_factor", superuser.email.upper(), stdout=out)
    call_command("reset_two_factor", superuser.email, stdout=out)
    assert out.getvalue() == "Two-factor is reset.\nThis person has no two-factor.\n"
    with pytest.raises(CommandError):
        call_command("reset_two_factor", "nobody@example.com")

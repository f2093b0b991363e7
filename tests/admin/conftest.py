"""Support staff, signed in through the admin's own page, and something for them to look at."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agency.actors import SYSTEM
from agency.limits import unlimited
from agency.models import Agency, User
from agency.services import create_addon, create_agency, create_plan
from tests.agency.console.browsers import a_browser
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import create_workspace

PASSWORD = "correct-horse-battery"

pytestmark = pytest.mark.django_db


def an_address() -> str:
    return f"2001:db8:{secrets.randbits(16):x}:{secrets.randbits(16):x}::1"


@pytest.fixture
def person(db: None) -> Callable[..., User]:
    """Make a person who can sign in with `PASSWORD`."""

    def make(email: str = "", **fields: Any) -> User:
        return User.objects.create_user(email or f"{secrets.token_hex(6)}@example.com", PASSWORD, **fields)

    return make


@pytest.fixture
def sign_in() -> Callable[[User], Client]:
    """Sign a person in at the admin's page; the client then stands for their browser."""

    def through_the_page(user: User) -> Client:
        browser = a_browser()
        browser.post("/admin/login/", {"username": user.email, "password": PASSWORD, "next": "/admin/"})
        return browser

    return through_the_page


@pytest.fixture
def superuser(person: Callable[..., User]) -> User:
    return person(is_staff=True, is_superuser=True, name="Support")


@pytest.fixture
def support(superuser: User, sign_in: Callable[[User], Client]) -> Client:
    return sign_in(superuser)


def an_agency() -> Agency:
    return create_agency(name=f"Agency {secrets.token_hex(4)}", by=SYSTEM)


def a_workspace(agency: Agency) -> Workspace:
    plan = create_plan(agency=agency, name="Starter", limits=unlimited(), by=SYSTEM)
    create_addon(agency=agency, name="More", limits=unlimited(), by=SYSTEM)
    return create_workspace(
        agency=agency,
        name="Quayside Cycles",
        owner_name="Owner",
        owner_email="owner@example.com",
        plan=plan,
        now=timezone.now(),
        by=SYSTEM,
    )


@pytest.fixture
def agency(db: None) -> Agency:
    return an_agency()


@pytest.fixture
def workspace(agency: Agency) -> Workspace:
    return a_workspace(agency)

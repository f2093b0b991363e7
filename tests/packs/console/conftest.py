"""Browsers of agency staff."""

import pytest
from django.test import Client

from tests.agency.console.staff import at_the_console
from tests.tenants import Tenant


@pytest.fixture
def admin(a: Tenant) -> Client:
    return at_the_console(a.agency, "admin")


@pytest.fixture
def viewer(a: Tenant) -> Client:
    return at_the_console(a.agency, "viewer")

"""The tenant with the longest texts, made once for all tests of a module, each of which begins with a copy of it.

A module that wants it takes over all three fixtures.
"""

import pickle
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import pytest
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from tests.database.emptying import empty_database, forget_counters
from tests.flows.every_page.extremes import ExtremeTenant
from tests.packs.small_library import write_library

LOOPBACK: Final = [ip_network("127.0.0.0/8")]


@pytest.fixture(scope="module")
def extreme_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of packs from which the tenant has some."""
    return write_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def extreme(django_db_setup: None, django_db_blocker: DjangoDbBlocker, extreme_library: Path) -> Iterator[bytes]:
    """The tenant, committed, and pickled for each test to have a copy."""
    installation = override_settings(PACK_LIBRARY=extreme_library, WEBHOOK_ALLOWED_NETWORKS=LOOPBACK)
    with django_db_blocker.unblock(), installation:
        made = pickle.dumps(ExtremeTenant())
    yield made
    with django_db_blocker.unblock():
        empty_database()


@pytest.fixture
def a(extreme: bytes, db: None) -> ExtremeTenant:
    forget_counters()
    tenant: ExtremeTenant = pickle.loads(extreme)  # noqa: S301  # our own
    return tenant

"""Fixtures for all tests: clean counters, a database that can be emptied, and two agencies with their clients."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as search
from pytest_django import DjangoDbBlocker
from whitenoise.middleware import WhiteNoiseMiddleware

from agency.services.hosts import VerifiedHosts, cache
from config import metrics
from config import redis as config_redis
from tests.agency.console.browsers import at_the_console
from tests.database.copies import SharedTemplate, template_of_this_run
from tests.database.emptying import empty_after_test, forget_counters, remember_connection
from tests.database.limits import set_longer_limits
from tests.document.recording import _watch_surfaces, pytest_runtest_call, pytest_runtest_setup  # noqa: F401  # pytest finds them here
from tests.furnished import (  # noqa: F401  # pytest finds them here
    bring_together,
    furnished,
    furnished_until_end,
    pytest_runtest_protocol,
    two_channels,
    two_customers,
)
from tests.processes.own_processes import variables
from tests.processes.preloaded import Preloaded
from tests.sizes import FULL_SIZE, size
from tests.tenants import WORKSPACE_BASE, Api, Tenant
from tests.waiting import PATIENCE_SECONDS

# No search fails by the clock, because a busy machine is no fault. The small size tries the same examples in every run,
# and the full size those of its seed. Neither uses examples that an earlier run has kept.
search.register_profile(
    "of this size",
    deadline=None,
    database=None,
    derandomize=not FULL_SIZE,
    max_examples=size("values", "values"),
    suppress_health_check=[HealthCheck.too_slow],
)
search.load_profile("of this size")

# Tests that `make fast` leaves out start processes, drive a browser, wait for something real, try very many things, or
# take long together. Modules elsewhere say so by the marker `slow`; in these folders every test is slow.
SLOW_FOLDERS = (
    "tests/flows/",
    "tests/tools/local/",
    "tests/tools/sandbox/",
    "tests/chaos/",
    "tests/fuzz/",
    "tests/clocks/",
    "tests/servers/",
    "tests/webhooks/dispatcher/",
    "tests/config/serving/",
    "tests/config/postgresql/",
    "tests/channelconnect/providers/",
    "tests/channelconnect/sending/",
    "tests/broadcasts/sending/",
    "tests/same_changes/",
    "tests/agency/own_mail_server/",
    "tests/plugins/",
)
OTHERS_OUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


COLLECT_GARBAGE_AFTER = 20_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)
    bring_together(items)


def pytest_collection() -> None:
    """Stop garbage collection, because nothing is garbage yet; `pytest_collection_finish` starts it again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector skip objects that stay to the end: Django and thousands of collected tests."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(COLLECT_GARBAGE_AFTER)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Let the garbage collector skip all objects: pytest has just looked for garbage and would look again."""
    gc.freeze()


@pytest.fixture(scope="session")
def shared_template() -> Iterator[SharedTemplate | None]:
    template = template_of_this_run()
    yield template
    if template:
        template.end()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, shared_template: SharedTemplate | None) -> None:
    """Begin with a copy of a migrated database, if another worker already has one.

    A busy disk may delay making and dropping a database, so both run without the limits of a request.
    """
    if shared_template:
        shared_template.begin()
    connection.settings_dict["OPTIONS"]["options"] = "-c statement_timeout=0"


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_template: SharedTemplate | None
) -> Iterator[None]:
    """Let the clean-up after a test that commits empty every table, even that of activity.

    At the end PostgreSQL closes the connections that threads of live servers still keep, because they would block
    dropping the database.
    """
    set_longer_limits()
    connection.close()
    if shared_template:
        shared_template.offer()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agency_activityentry DISABLE TRIGGER activity_is_never_emptied")
        remember_connection()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_after_test())
        patched.setattr(TransactionTestCase, "_should_reload_connections", lambda _: False)
        yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(OTHERS_OUT)
    connection.settings_dict["OPTIONS"]["options"] = "-c statement_timeout=0"


@pytest.fixture(scope="session")
def migrated_dump(request: pytest.FixtureRequest, shared_template: SharedTemplate | None) -> Path | None:
    """Give the dump with which a system with its own servers begins.

    Without parallel workers, or without a test that has a database, there is none, and the system migrates by itself.
    """
    if shared_template is None or not any(item.get_closest_marker("django_db") for item in request.session.items):
        return None
    request.getfixturevalue("django_db_setup")
    return shared_template.path_of_dump


@pytest.fixture(scope="session")
def preloaded(django_db_setup: None) -> Iterator[Preloaded]:
    """Run work in processes that are killed, without loading the product for each process."""
    made = Preloaded(variables())
    yield made
    made.end()


@pytest.fixture(scope="session", autouse=True)
def _static_files_found_once() -> Iterator[None]:
    """Let the handlers of all browsers share one list of static files, so that only one walks through the folders."""
    found: dict[str, Any] = {}
    walk = WhiteNoiseMiddleware.add_files_from_finders

    def add(middleware: Any) -> None:
        if not found:
            walk(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add)
        yield


@pytest.fixture(scope="session", autouse=True)
def _clean_counters() -> None:
    """Reset the counters of an earlier run, whose keys had the same numbers as this run's."""
    forget_counters()


@pytest.fixture(scope="session", autouse=True)
def redis_seconds() -> Iterator[float]:
    """Wait for Redis for as long as a busy machine needs; give the time after which the product goes on without it."""
    with pytest.MonkeyPatch.context() as patched:
        given = config_redis.TIMEOUT_SECONDS
        for module in (config_redis, metrics):
            patched.setattr(module, "TIMEOUT_SECONDS", PATIENCE_SECONDS)
        config_redis.client.cache_clear()
        yield given


@pytest.fixture(autouse=True)
def _hosts_of_this_test() -> None:
    """Begin without a verified host, like the database; a test that makes one reads the hosts again."""
    cache.keep(VerifiedHosts())


@pytest.fixture
def a(db: None) -> Tenant:
    """The agency that a test is about."""
    return Tenant()


@pytest.fixture
def b(db: None) -> Tenant:
    """Another agency: neither agency may see the other."""
    return Tenant()


@pytest.fixture
def owner(a: Tenant) -> Client:
    """The browser of an owner of the agency; `admin` and `viewer` are those of its other staff."""
    return at_the_console(a.agency, "owner")


@pytest.fixture
def admin(a: Tenant) -> Client:
    return at_the_console(a.agency, "admin")


@pytest.fixture
def viewer(a: Tenant) -> Client:
    return at_the_console(a.agency, "viewer")


@pytest.fixture
def anonymous() -> Api:
    """A caller of the agency surface without a key."""
    return Api()


@pytest.fixture
def nobody_of_a_workspace() -> Api:
    """A caller of the workspace surface without a key."""
    return Api(WORKSPACE_BASE)

"""`a` and `b` of most modules: copies of agencies that are there for test after test.

`a` and `b` have one of everything. `a_with_customer` and `b_with_customer` have a sub-account alone: that is enough for
most modules, and takes a quarter off each of their tests. They fit no test that counts the rows of all agencies, or
what Redis keeps of one.

Each worker commits such agencies once. Modules that want the same kind of them come one after another, and the database
is emptied before a test that wants another kind or none, or that commits.
"""

import pickle
from collections.abc import Callable, Generator, Iterator
from typing import Final

import pytest
from pytest_django import DjangoDbBlocker
from pytest_django.plugin import blocking_manager_key

from tests.database.emptying import empty_database, forget_counters, shared
from tests.routes import ids_of
from tests.tenants import Tenant


def with_customer() -> Tenant:
    tenant = Tenant()
    _ = tenant.workspace_api  # makes the others, too
    return tenant


def with_everything() -> Tenant:
    tenant = Tenant()
    ids_of(tenant)
    for key in ("workspace_api", "copying_api"):
        getattr(tenant, key)
    return tenant


# By the fixture's name.
KINDS: Final[dict[str, Callable[[], Tenant]]] = {"two_customers": with_customer, "furnished": with_everything}
KIND: Final = pytest.StashKey[str]()
# What the test that is running shares.
wanted: Final[set[str]] = set()


def commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    fixtures = getattr(item, "fixturenames", ())
    return (
        "transactional_db" in fixtures or "live_server" in fixtures or bool(marker and marker.kwargs.get("transaction"))
    )


def bring_together(items: list[pytest.Item]) -> None:
    """Have tests of modules that share agencies come one after another, by their kind, in front of the others."""
    kinds = {item.path: kind for item in items for kind in KINDS if kind in getattr(item, "fixturenames", ())}
    for item in items:
        item.stash[KIND] = "" if commits(item) else kinds.get(item.path, "")
    order = [*KINDS, ""]
    items.sort(key=lambda item: order.index(item.stash[KIND]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Empty the database before a test that does not share what is there."""
    wanted.clear()
    wanted.add(item.stash[KIND])
    if shared.keys() - wanted:
        with item.config.stash[blocking_manager_key].unblock():
            empty_database()
    return (yield)


def committed(kind: str, blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Give what is shared, committed where it is not there yet; nothing for a test that commits."""
    if kind in wanted and kind not in shared:
        with blocker.unblock():
            shared[kind] = tuple(pickle.dumps(KINDS[kind]()) for _ in range(2))
    return shared.get(kind, ())


@pytest.fixture(scope="module")
def furnished(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Two agencies with one of everything. A module that wants them replaces `a` and `b`."""
    return committed("furnished", django_db_blocker)


@pytest.fixture(scope="module")
def furnished_until_end(
    furnished: tuple[bytes, ...], django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[bytes, ...]]:
    """The same two, which leave with what a module commits beside them."""
    yield furnished
    with django_db_blocker.unblock():
        empty_database()


@pytest.fixture(scope="module")
def two_customers(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Two agencies with a plan, a sub-account and its key, and nothing else: a smaller `furnished`.

    A module that wants them replaces `a` and `b` with `a_with_customer` and `b_with_customer`.
    """
    return committed("two_customers", django_db_blocker)


def loaded(kept: bytes) -> Tenant:
    """Give a copy of an agency; this is ten times as fast as `deepcopy`."""
    tenant: Tenant = pickle.loads(kept)  # noqa: S301  # our own
    return tenant


def taken(kind: str, number: int) -> Tenant:
    """Give a copy of a shared agency, or make one for a test that commits, which begins with an empty database."""
    return loaded(shared[kind][number]) if kind in shared else KINDS[kind]()


@pytest.fixture
def a(furnished: tuple[bytes, ...], db: None) -> Tenant:
    """The agency that a test is about, as nobody has counted its calls."""
    forget_counters()
    return taken("furnished", 0)


@pytest.fixture
def b(furnished: tuple[bytes, ...], db: None) -> Tenant:
    """Another agency, which must neither see nor be seen."""
    return taken("furnished", 1)


@pytest.fixture
def a_with_customer(two_customers: tuple[bytes, ...], db: None) -> Tenant:
    """The agency that a test is about, with a plan, a sub-account and its key."""
    forget_counters()
    return taken("two_customers", 0)


@pytest.fixture
def b_with_customer(two_customers: tuple[bytes, ...], db: None) -> Tenant:
    """Another such agency."""
    return taken("two_customers", 1)

"""`a` and `b` of most modules: copies of two agencies that stay in the database for many tests.

`a` and `b` have one of everything. `a_with_customer` and `b_with_customer` have only a sub-account. That is enough for
most modules, and makes each of their tests a quarter faster. `a_with_channel` and `b_with_channel` have its first
channel, too, which comes with a starter pack and takes some thirty statements. None of them fits a test that counts
the rows of all agencies, or the entries that Redis keeps for an agency.

Each worker commits such agencies once. Modules that use the same kind run one after another. The database is emptied
before a test that uses another kind or none, or that commits.
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
    _ = tenant.workspace_api  # makes the plan and the sub-account, too
    return tenant


def with_channel() -> Tenant:
    tenant = with_customer()
    _ = tenant.channel
    return tenant


def with_everything() -> Tenant:
    tenant = Tenant()
    ids_of(tenant)
    for key in ("workspace_api", "copying_api"):
        getattr(tenant, key)
    return tenant


# By the fixture's name.
KINDS: Final[dict[str, Callable[[], Tenant]]] = {
    "two_customers": with_customer,
    "two_channels": with_channel,
    "furnished": with_everything,
}
KIND: Final = pytest.StashKey[str]()
# The kind that the running test shares.
wanted: Final[set[str]] = set()


def commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    fixtures = getattr(item, "fixturenames", ())
    return (
        "transactional_db" in fixtures or "live_server" in fixtures or bool(marker and marker.kwargs.get("transaction"))
    )


def bring_together(items: list[pytest.Item]) -> None:
    """Put the tests of modules that share agencies first, sorted by kind."""
    kinds = {item.path: kind for item in items for kind in KINDS if kind in getattr(item, "fixturenames", ())}
    for item in items:
        item.stash[KIND] = "" if commits(item) else kinds.get(item.path, "")
    order = [*KINDS, ""]
    items.sort(key=lambda item: order.index(item.stash[KIND]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Empty the database before a test that does not share the committed agencies."""
    wanted.clear()
    wanted.add(item.stash[KIND])
    if shared.keys() - wanted:
        with item.config.stash[blocking_manager_key].unblock():
            empty_database()
    return (yield)


def committed(kind: str, blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Give the shared agencies, and commit them first if needed; give nothing for a test that commits."""
    if kind in wanted and kind not in shared:
        with blocker.unblock():
            shared[kind] = tuple(pickle.dumps(KINDS[kind]()) for _ in range(2))
    return shared.get(kind, ())


@pytest.fixture(scope="module")
def furnished(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Two agencies with one of everything. A module that uses them replaces `a` and `b`."""
    return committed("furnished", django_db_blocker)


@pytest.fixture(scope="module")
def furnished_until_end(
    furnished: tuple[bytes, ...], django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[bytes, ...]]:
    """The same two agencies. After the module the database is emptied, because the module commits more rows."""
    yield furnished
    with django_db_blocker.unblock():
        empty_database()


@pytest.fixture(scope="module")
def two_customers(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Two agencies with only a plan, a sub-account and its key: a smaller `furnished`.

    A module that uses them replaces `a` and `b` with `a_with_customer` and `b_with_customer`.
    """
    return committed("two_customers", django_db_blocker)


@pytest.fixture(scope="module")
def two_channels(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[bytes, ...]:
    """Two such agencies whose sub-accounts have a channel. It replaces `a` by `a_with_channel`."""
    return committed("two_channels", django_db_blocker)


def loaded(kept: bytes) -> Tenant:
    """Give a copy of an agency, ten times as fast as `deepcopy`."""
    tenant: Tenant = pickle.loads(kept)  # noqa: S301  # our own pickle
    return tenant


def taken(kind: str, number: int) -> Tenant:
    """Give a copy of a shared agency; make one for a test that commits, because it begins with an empty database."""
    return loaded(shared[kind][number]) if kind in shared else KINDS[kind]()


@pytest.fixture
def a(furnished: tuple[bytes, ...], db: None) -> Tenant:
    """The agency that a test is about, with counters of calls at zero."""
    forget_counters()
    return taken("furnished", 0)


@pytest.fixture
def b(furnished: tuple[bytes, ...], db: None) -> Tenant:
    """Another agency: neither agency may see the other."""
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


@pytest.fixture
def a_with_channel(two_channels: tuple[bytes, ...], db: None) -> Tenant:
    """The agency that a test is about, with a plan, and a sub-account with its key and its first channel."""
    forget_counters()
    return taken("two_channels", 0)


@pytest.fixture
def b_with_channel(two_channels: tuple[bytes, ...], db: None) -> Tenant:
    """Another such agency."""
    return taken("two_channels", 1)

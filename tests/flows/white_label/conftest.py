"""Two agencies on hosts of their own, made once for all tests of a module, and somebody who belongs to both."""

import pickle

import pytest
from pytest_django import DjangoDbBlocker

from agency.models import User
from agency.services.hosts import invalidate_hosts
from tests.agency.console.browsers import a_person
from tests.database.emptying import forget_counters
from tests.flows.white_label.agencies import HostedAgency, Hosts, belongs_to_both
from tests.furnished import loaded


@pytest.fixture(scope="module")
def furnished_hosts(furnished_until_end: tuple[bytes, ...], django_db_blocker: DjangoDbBlocker) -> bytes:
    """Both agencies, furnished, with hosts and looks: pictures are redrawn in a process of their own."""
    north, south = map(loaded, furnished_until_end)
    with django_db_blocker.unblock():
        return pickle.dumps((HostedAgency(north, "north", "0d9488"), HostedAgency(south, "south-sea", "ffcc00")))


@pytest.fixture
def hosts(furnished_hosts: bytes, db: None) -> Hosts:
    """Copies of both, as nobody has counted their calls."""
    forget_counters()
    invalidate_hosts()
    hosts: Hosts = pickle.loads(furnished_hosts)  # noqa: S301  # our own
    return hosts


@pytest.fixture
def person(hosts: Hosts) -> User:
    """Somebody who is an owner at both, has a workspace of each, and a second invitation of each."""
    person = a_person(name="Ada")
    belongs_to_both(person, *hosts)
    return person

"""Preparation that is killed at every statement: nobody is lost, nobody stands there twice, every count is right."""

from collections.abc import Callable

import pytest

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event
from broadcasts.models import Broadcast
from tests.broadcasts.services.making import (
    a_contact,
    an_identity,
    check_counts,
    many_contacts,
    recipients,
    scheduled,
    templated,
)
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import FULL_SIZE
from tests.tenants import Tenant
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.services import tenant_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
MODULE = "tests.broadcasts.services.killed_preparation"
PEOPLE = 7
LEAST_KILLS = {"one": 30, "two": 20} if FULL_SIZE else {"one": 8, "two": 8}


def prepare_killed(preloaded: Preloaded, how: str) -> int:
    """Prepare whatever is due in processes that are killed; gives the number of kills."""
    return int(preloaded.run(Order(MODULE, (how,))))


def an_audience(a: Tenant) -> Broadcast:
    """Seven people, two more of whom one has a number that another has, one out of reach."""
    message = templated(a)
    many_contacts(a, PEOPLE)
    an_identity(a_contact(a, None), a.channel, "4915100000001")
    a_contact(a, None)
    return scheduled(a, message=message)


@pytest.mark.parametrize("connections", ["one", "two"])
def test_preparation_that_is_killed_anywhere_loses_nobody_and_doubles_nobody(
    a: Tenant, connections: str, preloaded: Preloaded, record_property: Callable[[str, object], None]
) -> None:
    topics = ["broadcast.started", "broadcast.recipient_skipped"]
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=topics, by=SYSTEM)
    broadcast = an_audience(a)
    kills = prepare_killed(preloaded, connections)
    record_property("kills", kills)
    assert kills > LEAST_KILLS[connections]
    check_counts(broadcast)
    rows = list(recipients(broadcast).values())
    assert [row.skip_reason for row in rows] == [None] * PEOPLE + ["duplicate_address", "no_address"]
    assert (broadcast.status, broadcast.is_prepared) == ("sending", True)
    assert Event.objects.filter(name="broadcast.started").count() == 1
    assert Event.objects.filter(name="broadcast.recipient_skipped").count() == 2
    assert ActivityEntry.objects.filter(action="broadcast.started").count() == 1


def test_a_place_that_is_written_in_a_transaction_of_its_own_loses_people(a: Tenant, preloaded: Preloaded) -> None:
    """The proof that the test above can fail."""
    broadcast = an_audience(a)
    prepare_killed(preloaded, "careless")
    assert len(recipients(broadcast)) < PEOPLE + 2

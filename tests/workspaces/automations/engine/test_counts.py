"""What batches have counted is added up once, and the end of a batch reads the facts of no other contacts."""

import pytest
from django.db import connection

from config.postgresql.arrays import integers
from tests import furnished
from tests.factories.flows import a_flow
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_engine import on
from tests.workspaces.conversations.facts import person, receive, received
from workspaces.automations.engine.loop import Engine, run_due
from workspaces.automations.engine.writing import UPDATE_QUEUE
from workspaces.automations.models import Automation, AutomationCount, PendingCount, TriggerEvent
from workspaces.automations.services.run_counts import merge_counts

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE, BATCH = 40, 5


def started(automation: Automation) -> int:
    return sum(AutomationCount.objects.filter(automation=automation, port="started").values_list("number", flat=True))


def work_on_batches(batches: int) -> None:
    engine = Engine(batch=BATCH)
    engine.begin()
    for _ in range(batches):
        engine.run_turn()
    engine.end()


def test_several_engines_add_the_counts_of_all_batches_once(a: Tenant) -> None:
    automation = on(a)
    receive(*(received(a.channel, person=person(number), text="hello") for number in range(1, PEOPLE + 1)))
    work_on_batches(4)
    assert PendingCount.objects.count() == 4
    assert started(automation) == 0
    at_once(lambda _: run_due(), times=3)
    merge_counts()  # an engine whose turn it was not leaves its last counts to the next one
    assert started(automation) == PEOPLE
    assert not PendingCount.objects.exists()


def test_counts_of_an_automation_that_is_gone_are_dropped_alone(a: Tenant) -> None:
    gone, kept = on(a, name="Gone"), on(a, a_flow(trigger="keyword", keywords=["price"]), name="Kept")
    receive(received(a.channel, text="hello"), received(a.channel, person=person(2), text="price"))
    work_on_batches(1)
    gone.delete()
    assert merge_counts() == 1
    assert (started(kept), PendingCount.objects.count()) == (1, 0)


def test_the_end_of_a_batch_looks_for_more_facts_of_its_contacts_alone() -> None:
    contacts = integers(range(1, 201))
    columns = [contacts, *[f"{{{','.join(['NULL'] * 200)}}}"] * 8]
    facts = [TriggerEvent(workspace_id=1, contact_id=n, kind="message", source_key=str(n)) for n in range(5_000)]
    TriggerEvent.objects.bulk_create(facts)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE automations_triggerevent")
        cursor.execute(f"EXPLAIN (VERBOSE) {UPDATE_QUEUE}", columns)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "hashed" not in plan
    assert "Index Cond: (event.contact_id = told.contact_id)" in plan

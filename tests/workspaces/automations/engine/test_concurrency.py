"""Several engines at once: each contact is worked on by one of them, and nothing happens twice."""

import pytest

from tests import furnished
from tests.factories.flows import a_flow, a_step
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_engine import CHOICE, on, sent
from tests.workspaces.conversations.facts import moment, person, receive, received
from workspaces.automations.engine.loop import Engine, run_due
from workspaces.automations.models import AutomationRun, AutomationRunStep, ContactQueue, TriggerEvent
from workspaces.conversations.models import Message

a, b = furnished.a_with_channel, furnished.b_with_channel

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 40


def work(_: int = 0) -> None:
    run_due()


def test_two_engines_share_the_contacts(a: Tenant) -> None:
    on(a)
    receive(*(received(a.channel, person=person(number), text="hello") for number in range(1, PEOPLE + 1)))
    at_once(work, times=2)
    assert AutomationRun.objects.count() == Message.objects.filter(direction="out").count() == PEOPLE
    assert not TriggerEvent.objects.filter(outcome=None).exists()
    assert not ContactQueue.objects.filter(is_due=True).exists()


def test_an_answer_and_the_end_of_its_wait_move_the_run_on_once(a: Tenant) -> None:
    on(a, CHOICE)
    receive(received(a.channel, text="hello"))
    run_due()
    AutomationRun.objects.update(wait_until=moment(-1))
    ContactQueue.objects.update(ready_at=moment(-1))
    receive(received(a.channel, text="1", at=moment(1)))
    at_once(work, times=2)
    run = AutomationRun.objects.get()
    assert (run.status, sent()) == ("completed", ["Cut or colour?", "A cut it is."])
    assert sorted(AutomationRunStep.objects.values_list("seq", flat=True)) == list(range(1, run.seq + 1))


def test_facts_that_come_while_an_engine_works_are_not_lost(a: Tenant) -> None:
    on(a, a_flow(a_step("tag", "add_tag", tag="Seen")))
    on(a, a_flow(trigger="keyword", keywords=["price"]), name="Prices")
    receive(received(a.channel, text="hello"))

    def write_or_work(thread: int) -> None:
        for number in range(5):
            if thread:
                run_due()
            else:
                receive(received(a.channel, text="hello" if number % 2 else "price", at=moment(number)))

    at_once(write_or_work, times=3)
    run_due()
    assert TriggerEvent.objects.count() == 6
    assert not TriggerEvent.objects.filter(outcome=None).exists()


def test_workspaces_take_turns_and_a_large_one_holds_up_no_other(a: Tenant, b: Tenant) -> None:
    on(a)
    on(b)
    receive(*(received(a.channel, person=person(number), text="hello") for number in range(1, PEOPLE + 1)))
    receive(received(b.channel, text="hello"))
    engine = Engine(batch=4)
    engine.begin()
    engine.run_turn()
    engine.end()
    assert AutomationRun.objects.filter(workspace=b.workspace).count() == 1
    assert 0 < AutomationRun.objects.filter(workspace=a.workspace).count() < PEOPLE

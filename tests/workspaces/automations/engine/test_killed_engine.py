"""An engine that is killed at every statement loses no fact, sends no message twice and does each step once."""

from collections.abc import Callable

import pytest

from tests import furnished
from tests.factories.flows import a_flow, a_step
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import FULL_SIZE
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_appointments import BOOK, a_service
from tests.workspaces.automations.engine.test_engine import on, say, sent
from tests.workspaces.conversations.facts import moment, person, receive, received
from workspaces.appointments.models import Appointment
from workspaces.automations.models import (
    AutomationCount,
    AutomationRun,
    AutomationRunStep,
    ContactQueue,
    EngineBatch,
    InternalCall,
    TriggerEvent,
)
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message, Note, QueuedMessage

a = furnished.a_with_customer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
MODULE = "tests.workspaces.automations.engine.killed_engine"
PEOPLE = 3
LEAST_KILLS = 60 if FULL_SIZE else 12

FLOW = a_flow(
    a_step("greet", "send_text", {"next": "tag"}, text="Hello {{contact.first_name}}!"),
    a_step("tag", "add_tag", {"next": "note"}, tag="Greeted"),
    a_step("note", "add_note", {"next": "ask"}, text="Was greeted."),
    a_step("ask", "ask_question", {"answered": "thanks"}, text="When?", expects="text", save_as="day"),
    a_step("thanks", "send_text", {}, text="Thank you."),
)


def furnish(a: Tenant) -> None:
    """Three people start the automation, and one of them has answered already."""
    on(a, FLOW)
    receive(*(received(a.channel, person=person(number), text="hello") for number in range(1, PEOPLE + 1)))
    receive(received(a.channel, person=person(1), text="On Monday", at=moment(5)))


def work_killed(preloaded: Preloaded, how: str) -> int:
    """Work until nothing is due, in processes that are killed; gives the number of kills."""
    return int(preloaded.run(Order(MODULE, (how,))))


def faults() -> list[str]:
    """What is not as one process that nobody kills leaves it."""
    expected = {
        "runs": (AutomationRun.objects.count(), PEOPLE),
        "completed": (AutomationRun.objects.filter(status="completed").count(), 1),
        "messages": (Message.objects.filter(direction="out").count(), 2 * PEOPLE + 1),
        "queued": (QueuedMessage.objects.count(), 2 * PEOPLE + 1),
        "notes": (Note.objects.count(), PEOPLE),
        "tagged": (Contact.objects.filter(tags=["Greeted"]).count(), PEOPLE),
        "steps": (AutomationRunStep.objects.count(), 4 * PEOPLE + 2),
        "undecided": (TriggerEvent.objects.filter(outcome=None).count(), 0),
        "started": (sum(AutomationCount.objects.filter(port="started").values_list("number", flat=True)), PEOPLE),
        "due": (ContactQueue.objects.filter(is_due=True).count(), 0),
        "suspects": (ContactQueue.objects.filter(is_suspect=True).count(), 0),
        "batches": (EngineBatch.objects.count(), 0),
    }
    return [f"{name}: {found} instead of {wanted}" for name, (found, wanted) in expected.items() if found != wanted]


def test_an_engine_that_is_killed_anywhere_loses_nothing_and_doubles_nothing(
    a: Tenant, preloaded: Preloaded, record_property: Callable[[str, object], None]
) -> None:
    furnish(a)
    kills = work_killed(preloaded, "carefully")
    record_property("kills", kills)
    assert kills > LEAST_KILLS
    assert faults() == []


def test_an_appointment_is_booked_once_wherever_the_process_dies(a: Tenant, preloaded: Preloaded) -> None:
    a_service(a)
    on(a, BOOK)
    say(a, "book")
    receive(received(a.channel, text="1", at=moment(5)))
    assert work_killed(preloaded, "calls") >= 4
    run = AutomationRun.objects.get()
    assert (run.status, Appointment.objects.count(), InternalCall.objects.count()) == ("completed", 1, 0)
    assert [text.partition(" ")[0] for text in sent()] == ["When", "See"]
    assert run.steps.filter(port="booked").count() == 1


def test_a_batch_without_a_transaction_leaves_faults(a: Tenant, preloaded: Preloaded) -> None:
    """The proof that the test above can fail."""
    furnish(a)
    work_killed(preloaded, "careless")
    assert faults() != []

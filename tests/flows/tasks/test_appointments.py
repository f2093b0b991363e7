"""A customer makes, reschedules and cancels an appointment by keyboard alone, on pages without scripts of their own."""

import pytest

from config.formats import format_day
from tests.factories import ContactFactory, WorkspaceFactory
from tests.flows.tasks.conftest import BY_KEYBOARD_ONLY, SignIn
from tests.workspaces.appointments.dashboard.making import a_service, a_staff_member, at
from workspaces.appointments.models import Appointment, Occupancy
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def salon(transactional_db: None) -> Workspace:
    made: Workspace = WorkspaceFactory.create()
    a_service(made, a_staff_member(made))
    ContactFactory.create(workspace=made, name="Ada Lovelace")
    return made


@BY_KEYBOARD_ONLY
def test_an_appointment_is_made_rescheduled_and_cancelled(person_at: SignIn, salon: Workspace) -> None:
    person = person_at(salon.owner, home="/app/", menu="Dashboard")
    person.begin()
    person.open("Calendar")
    person.click("link", "New appointment")
    person.fill("Contact", "lovelace")
    person.click("button", "Search")
    person.click("link", "Ada Lovelace")
    person.tick(f"{format_day(at(9), 'MMMEd')}, 09:15")
    person.click("button", "Book")
    person.sees_message("Ada Lovelace has an appointment.")
    person.sees_heading("Ada Lovelace")
    made = Appointment.objects.get()
    assert made.starts_at == at(9, 15)
    assert (person.clicks, person.fields) == (6, 1)

    person.click("link", "Reschedule")
    person.tick(f"{format_day(at(9), 'MMMEd')}, 09:45")
    person.click("button", "Reschedule")
    person.sees_message("The appointment was rescheduled.")
    made.refresh_from_db()
    assert made.starts_at == at(9, 45)
    assert (person.clicks, person.fields) == (9, 1)

    person.click("link", "Cancel appointment")
    person.click("button", "Cancel the appointment")
    person.sees_message("The appointment is cancelled.")
    assert not Occupancy.objects.exists()
    assert (person.clicks, person.fields) == (11, 1)
    assert not person.scripts, "what has scripts of its own must also be done without them"

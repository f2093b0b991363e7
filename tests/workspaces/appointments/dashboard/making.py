"""What tests of the dashboard's pages of appointments begin with."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.agency.console import browsers
from tests.factories import ContactFactory, ServiceFactory, StaffFactory
from workspaces.appointments.models import Appointment, Occupancy
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.hours import set_working_hours
from workspaces.catalogue.models import Service, Staff
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS

EVERY_DAY = {day: [["09:00", "17:00"]] for day in DAYS}


def a_staff_member(workspace: Workspace, name: str = "Mia", **hours: Any) -> Staff:
    """Somebody who works every day from nine to five."""
    staff = StaffFactory.create(workspace=workspace, name=name)
    values = {"timezone": workspace.timezone, "weekly": EVERY_DAY, "exceptions": {}, **hours}
    set_working_hours(staff=staff, now=now(), by=SYSTEM, **values)
    return staff


def a_service(workspace: Workspace, *staff: Staff, name: str = "Haircut", **values: Any) -> Service:
    """A service of the kind appointment, which these people provide."""
    return ServiceFactory.create(workspace=workspace, name=name, kind="appointment", staff=staff, **values)


def at(hour: int, minute: int = 0, *, days: int = 1) -> datetime:
    """A time by the clock of UTC, tomorrow or so many days ahead."""
    day = (now() + timedelta(days=days)).date()
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)


def an_appointment(service: Service, starts_at: datetime, contact: Contact | None = None, **values: Any) -> Appointment:
    contact = contact or ContactFactory.create(workspace=service.workspace, name="Ada Lovelace")
    return book_appointment(
        workspace=service.workspace,
        service=service,
        contact=contact,
        starts_at=starts_at,
        now=now(),
        by=SYSTEM,
        source=Appointment.Source.API,
        **values,
    )


def move_to(appointment: Appointment, starts_at: datetime, **values: Any) -> None:
    """Let an appointment have been at another time, with other values such as its status."""
    ends_at = starts_at + (appointment.ends_at - appointment.starts_at)
    with transaction.atomic():
        Appointment.objects.filter(pk=appointment.pk).update(starts_at=starts_at, ends_at=ends_at, **values)
        Occupancy.objects.filter(appointment=appointment).update(during=(starts_at, ends_at))


def text(page: Any) -> str:
    """A page's words, with hyphens between times."""
    return browsers.text(page).replace("\u2013", "-")

"""Services that can be booked at any hour, and appointments."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories.base import A_MOMENT_AGO, ByService
from tests.factories.catalogue import ServiceFactory, StaffFactory
from tests.factories.contacts import ContactFactory
from workspaces.appointments.models import Appointment, Occupancy, TimeOff
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.hours import add_time_off, set_working_hours
from workspaces.catalogue.models import Service, Staff
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS

ALWAYS = {day: [["00:00", "24:00"]] for day in DAYS}


def tomorrow(hour: int = 10, minute: int = 0) -> datetime:
    """Give a time of tomorrow in UTC."""
    return (now() + timedelta(days=1)).replace(hour=hour, minute=minute, second=0, microsecond=0)


def a_staff_member_who_always_works(workspace: Workspace, zone: str = "UTC", **values: Any) -> Staff:
    staff = StaffFactory.create(workspace=workspace, **values)
    set_working_hours(staff=staff, timezone=zone, weekly=ALWAYS, exceptions={}, now=now(), by=SYSTEM)
    return staff


def a_bookable_service(workspace: Workspace, *, people: int = 1, **values: Any) -> Service:
    """A service of 60 minutes that so many people provide, at any hour."""
    staff = [a_staff_member_who_always_works(workspace) for _ in range(people)]
    return ServiceFactory.create(workspace=workspace, kind="appointment", **{"staff": staff, **values})


class AppointmentFactory(ByService[Appointment]):
    """An appointment of tomorrow at 10:00 UTC."""

    class Meta:
        model = Appointment

    now = A_MOMENT_AGO
    source = Appointment.Source.DASHBOARD

    @classmethod
    def make(cls, **values: Any) -> Appointment:
        workspace = values["workspace"]
        wanted = {
            "service": values.get("service") or a_bookable_service(workspace),
            "contact": values.get("contact") or ContactFactory.create(workspace=workspace),
            "starts_at": values.get("starts_at") or tomorrow(),
        }
        return book_appointment(**{**values, **wanted})


def a_time_off(staff: Staff) -> TimeOff:
    """A day off, in a week."""
    starts_at = tomorrow() + timedelta(days=7)
    return add_time_off(staff=staff, starts_at=starts_at, ends_at=starts_at + timedelta(days=1), now=now(), by=SYSTEM)


def move_to_the_past(appointment: Appointment) -> None:
    """Let an appointment have been a week earlier."""
    week = timedelta(days=7)
    appointment.starts_at, appointment.ends_at = appointment.starts_at - week, appointment.ends_at - week
    appointment.save(update_fields=["starts_at", "ends_at"])
    Occupancy.objects.filter(appointment=appointment).update(during=(appointment.starts_at, appointment.ends_at))


def appointment_ids(workspace: Workspace, mark: str, staff: Staff, contact: Contact) -> dict[str, UUID]:
    """Give the ids of an appointment and its service, and of a staff member's time off."""
    service = a_bookable_service(workspace, name=f"Appointments {mark}")
    appointment = AppointmentFactory.create(workspace=workspace, service=service, contact=contact)
    return {"appointment": appointment.uuid, "bookable_service": service.uuid, "time_off": a_time_off(staff).uuid}

"""A salon whose booking page is on, its classes, and a visitor who walks through it without scripts."""

import re
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from django.core import mail as outbox
from django.http import HttpResponse
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency
from agency.tasks import send_mail
from config.wall_clock import instant_of
from tests.factories import AgencyFactory, ClassSessionFactory, ServiceFactory, StaffFactory, WorkspaceFactory
from tests.tenants import an_address
from workspaces.appointments.models import TimeOff, VisitorBooking
from workspaces.appointments.public.details import signed_form_time
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.appointments.services.deposits import hold_visit
from workspaces.appointments.services.mails import code_of
from workspaces.appointments.services.visitors import check_code
from workspaces.catalogue.models import Service, ServiceStaff, Staff
from workspaces.classes.models import ClassSession
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services import change_workspace

BERLIN = "Europe/Berlin"
ADA = {"name": "Ada Brandt", "email": "ada@example.com", "phone": "", "note": "The side door, please."}


@dataclass(slots=True)
class Salon:
    workspace: Workspace
    service: Service
    staff: Staff
    slug: str

    @property
    def page(self) -> str:
        return f"/book/{self.slug}"

    @property
    def times(self) -> str:
        return f"{self.page}/{self.service.uuid}"


def a_salon(
    agency: Agency | None = None,
    *,
    name: str = "Corner Salon",
    service_name: str = "Haircut",
    staff_name: str = "Bea",
    **page: Any,
) -> Salon:
    """Open from 9 to 17 every day in Berlin. One person cuts hair for half an hour, and is away until tomorrow.

    So the first day with free times has all of its times, whatever the time of the day.
    """
    workspace = WorkspaceFactory.create(agency=agency or AgencyFactory.create(), name=name, timezone=BERLIN)
    hours = {day: [["09:00", "17:00"]] for day in DAYS}
    change_workspace(workspace=workspace, by=SYSTEM, opening_hours=hours)
    service = ServiceFactory.create(workspace=workspace, name=service_name, kind="appointment", duration_minutes=30)
    staff = StaffFactory.create(workspace=workspace, name=staff_name)
    ServiceStaff.objects.create(service=service, staff=staff)
    tomorrow = now().astimezone(ZoneInfo(BERLIN)).date() + timedelta(days=1)
    midnight = instant_of(datetime.combine(tomorrow, time()), BERLIN)
    TimeOff.objects.create(staff=staff, starts_at=midnight - timedelta(days=2), ends_at=midnight)
    made = change_booking_page(workspace=workspace, now=now(), by=SYSTEM, **{"enabled": True, **page})
    return Salon(workspace, service, staff, made.slug)


def a_class(salon: Salon, *, seats: int = 10, days: int = 2, name: str = "Yoga") -> ClassSession:
    """A class of the salon, in so many days from 20 to 21 in Berlin, when nobody cuts hair."""
    service = Service.objects.filter(workspace=salon.workspace, name=name).first()
    service = service or ServiceFactory.create(workspace=salon.workspace, name=name)
    day = now().astimezone(ZoneInfo(BERLIN)).date() + timedelta(days=days)
    return ClassSessionFactory.create(
        workspace=salon.workspace,
        service=service,
        staff=salon.staff,
        starts_at=instant_of(datetime.combine(day, time(20)), BERLIN),
        capacity=seats,
    )


def classes_page(session: ClassSession) -> str:
    """Give the path of the list of a class's service."""
    return f"/book/{session.workspace.booking_page.slug}/classes/{session.service.uuid}"


@dataclass(slots=True)
class Visitor:
    """A browser without scripts, from an address of its own."""

    client: Client = field(default_factory=lambda: Client(REMOTE_ADDR=an_address()))

    def get(self, address: str) -> HttpResponse:
        return self.client.get(address)  # type: ignore[return-value]  # a subclass for tests

    def post(self, address: str, **typed: str) -> HttpResponse:
        return self.client.post(address, typed)  # type: ignore[return-value]  # the same

    def links(self, address: str, wanted: str) -> list[str]:
        """Give the addresses of the page's links whose path and query match a pattern."""
        answer = self.get(address)
        assert answer.status_code == 200, answer.status_code
        found = (unescape(link) for link in re.findall(r'href="([^"]*)"', answer.content.decode()))
        return [link for link in found if re.search(wanted, link)]

    def first_time(self, salon: Salon, **asked: str) -> str:
        """Give the address of the details of the first free time."""
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        return self.links(f"{salon.times}?{query}", "/details[?]")[0]

    def send_details(self, address: str, **changes: str) -> HttpResponse:
        return self.post(address, **{**ADA, "opened": signed_form_time(now() - timedelta(seconds=30)), **changes})

    def type_code(self, page: str, code: str = "") -> HttpResponse:
        return self.post(page, code=code or the_code())

    def book(self, salon: Salon, **changes: str) -> str:
        """Book the first free time, and give the path of the page about the appointment."""
        answer = self.send_details(self.first_time(salon), **changes)
        assert answer.status_code == 302, answer.content.decode()
        booked = self.type_code(answer.headers["Location"])
        assert booked.status_code == 302, booked.content.decode()
        return urlsplit(booked.headers["Location"]).path

    def class_link(self, session: ClassSession) -> str:
        """Give the address of the page on which a class is booked."""
        return self.links(classes_page(session), f"/{session.uuid}[?]")[0]

    def book_class(self, session: ClassSession, **changes: str) -> str:
        """Book a seat, or a place with `waits`, and give the path of the page about it."""
        answer = self.send_details(self.class_link(session), **changes)
        assert answer.status_code == 302, answer.content.decode()
        booked = self.type_code(answer.headers["Location"])
        assert booked.status_code == 302, booked.content.decode()
        return urlsplit(booked.headers["Location"]).path


def a_held_booking(salon: Salon, visitor: Visitor) -> str:
    """Hold the last time of the first day for a visitor who pays a deposit, and give the path of its page."""
    Service.objects.filter(pk=salon.service.pk).update(deposit="15.00")
    link = visitor.links(salon.times, "/details[?]")[-1]
    visitor.send_details(link, email="grace@example.com")
    booking = VisitorBooking.objects.latest("id")
    check_code(booking=booking, code=code_of(booking.uuid), now=now())
    hold_visit(booking=booking, now=now(), by=SYSTEM)
    return f"{salon.page}/deposit/{booking.uuid}"


def the_code() -> str:
    """Read the code in the latest e-mail."""
    send_mail()
    body = next(str(mail.body) for mail in reversed(outbox.outbox) if mail.subject == "The code for your booking")
    [code] = re.findall(r"\b\d{6}\b", body)
    return str(code)


def wrong_code(booking: VisitorBooking) -> str:
    return f"{(int(code_of(booking.uuid)) + 1) % 1_000_000:06}"


def instant_of_link(link: str) -> datetime:
    return datetime.fromisoformat(parse_qs(urlsplit(link).query)["at"][0])

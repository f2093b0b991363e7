"""Calendars of other programs are read by a task, over HTTP."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, NotificationEvent
from config.http.transfer import Limits
from tests import furnished
from tests.config.http.conftest import start_receiver
from tests.config.http.receivers import LOOPBACK, Connection, Receiver, answer
from tests.factories import StaffFactory
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS
from tests.workspaces.appointments.external.files import event, ics, response
from workspaces.appointments.models import ExternalBusy, ExternalCalendar
from workspaces.appointments.services import calendar_reading
from workspaces.appointments.services.calendar_reading import MOST_BYTES, read_next_calendars
from workspaces.appointments.services.external_calendars import (
    CalendarAddressRefused,
    CalendarNotFound,
    TooManyCalendars,
    add_calendar,
    read_calendar_now,
    remove_calendar,
)
from workspaces.appointments.tasks import read_calendars
from workspaces.catalogue.models import Staff

a, b = furnished.a_with_customer, furnished.b_with_customer

__all__ = ["start_receiver"]
pytestmark = pytest.mark.django_db
# Only a host that never answers may need its time up. All others may take as long as a busy machine does.
PATIENT = Limits(total_ms=60_000, connect_ms=59_900, answer_bytes=MOST_BYTES + 65_536, kept_body_bytes=MOST_BYTES + 1)
HURRIED = PATIENT._replace(total_ms=4_000, connect_ms=3_900)
MODERATE = PATIENT._replace(total_ms=10_000, connect_ms=9_900)
SOON = now() + timedelta(days=2)
APPOINTMENT = ics(event(f"DTSTART:{SOON:%Y%m%d}T090000Z", "DURATION:PT1H"))


@pytest.fixture(autouse=True)
def loopback(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calendar_reading, "FETCH_SECONDS", PATIENCE_SECONDS)
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK


@pytest.fixture
def mia(a: Tenant) -> Staff:
    return StaffFactory.create(workspace=a.workspace, name="Mia")


def added(staff: Staff, receiver: Receiver, path: str = "/secret.ics") -> ExternalCalendar:
    address = f"http://127.0.0.1:{receiver.port}{path}"
    return add_calendar(staff=staff, name="Private", address=address, now=now(), by=SYSTEM)


def read_again(calendar: ExternalCalendar, *, limits: Limits = PATIENT, **fields: Any) -> ExternalCalendar:
    ExternalCalendar.objects.filter(pk=calendar.pk).update(due_at=Now(), **fields)
    read_next_calendars(limits=limits)
    calendar.refresh_from_db()
    return calendar


def test_a_calendar_is_read_and_read_again_only_if_it_has_changed(mia: Staff, start_receiver: Any) -> None:
    bodies = [
        response(APPOINTMENT, 'ETag: "1"'),
        response(b"", status="304 Not Modified"),
        response(ics(), 'ETag: "2"'),
    ]

    def behave(connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            connection.receiver.requests.append(request)
            connection.send(bodies[min(len(connection.receiver.requests), 3) - 1])

    receiver = start_receiver(behave)
    calendar = added(mia, receiver)
    read_calendars()
    calendar.refresh_from_db()
    [busy] = ExternalBusy.objects.all()
    assert (busy.staff_id, busy.during.lower.hour, busy.during.upper.hour) == (mia.pk, 9, 10)
    assert (calendar.failure, calendar.tries, calendar.etag) == ("", 0, '"1"')
    assert timedelta(minutes=14) < calendar.due_at - now() <= timedelta(minutes=15)
    assert not read_next_calendars()
    read_again(calendar)
    assert ExternalBusy.objects.get() == busy
    assert "if-none-match" not in receiver.requests[0].headers
    assert receiver.requests[1].headers["if-none-match"] == '"1"'
    read_calendar_now(calendar=calendar, now=now())
    assert read_next_calendars()
    assert not ExternalBusy.objects.exists()
    assert "if-none-match" not in receiver.requests[2].headers
    read_again(calendar, read_at=now() - timedelta(days=1))
    assert "if-none-match" not in receiver.requests[3].headers  # the horizon moves on each day


@pytest.mark.parametrize(
    ("answered", "code"),
    [
        (response(b"", status="404 Not Found"), "http_4xx"),
        (response(b"", "Location: http://127.0.0.1/", status="302 Found"), "http_3xx"),
        (response(b"nothing"), "not_a_calendar"),
        (response(ics("X-A:" + "x" * MOST_BYTES)), "too_large"),
        (response(ics(event("DTSTART:20300101T000000Z", "RRULE:FREQ=SECONDLY"))), "recurrence_refused"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nBEGIN", "timeout"),
    ],
)
def test_a_calendar_that_cannot_be_read_keeps_its_last_times(
    mia: Staff, start_receiver: Any, answered: bytes, code: str
) -> None:
    calendar = added(mia, start_receiver(answer(response(APPOINTMENT))))
    read_again(calendar)
    receiver = start_receiver(answer(answered))
    calendar.address = f"http://127.0.0.1:{receiver.port}/"
    calendar.save(update_fields=["address"])
    limits = HURRIED if code == "timeout" else PATIENT
    read_again(calendar, limits=limits)
    assert (calendar.failure, calendar.tries) == (code, 0)
    assert ExternalBusy.objects.count() == 1
    assert not NotificationEvent.objects.exists()
    since = now() - timedelta(days=1)
    for _ in range(2):
        read_again(calendar, limits=limits, failing_since=since)
        assert timedelta(hours=5) < calendar.due_at - now() <= timedelta(hours=6)
    assert NotificationEvent.objects.filter(kind="external_calendar.unread").count() == 1


def test_a_slow_host_stops_no_other(mia: Staff, start_receiver: Any) -> None:
    slow = added(mia, start_receiver(Connection.hang), "/slow.ics")
    good = [added(mia, start_receiver(answer(response(APPOINTMENT)))) for _ in range(3)]
    read_next_calendars(limits=MODERATE)
    assert set(ExternalBusy.objects.values_list("calendar", flat=True)) == {one.pk for one in good}
    slow.refresh_from_db()
    assert slow.failure == "timeout"


def test_a_reading_that_dies_again_and_again_waits(mia: Staff, start_receiver: Any) -> None:
    receiver = start_receiver(answer(response(APPOINTMENT)))
    calendar = read_again(added(mia, receiver), tries=5)
    assert (calendar.failure, calendar.tries, receiver.requests) == ("reading_died", 0, [])
    assert read_again(calendar).failure == ""


def test_an_address_is_checked_when_it_is_added_and_when_it_is_read(mia: Staff, settings: Any) -> None:
    for address in ("x", "ftp://example.com/a.ics", "https://a:b@example.com/", f"https://example.com/{'x' * 3000}"):
        with pytest.raises(CalendarAddressRefused):
            add_calendar(staff=mia, name="Private", address=address, now=now(), by=SYSTEM)
    calendar = add_calendar(staff=mia, name="P", address="webcal://127.0.0.1:8000/a.ics", now=now(), by=SYSTEM)
    assert (calendar.address, calendar.host) == ("https://127.0.0.1:8000/a.ics", "127.0.0.1")
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    assert read_again(calendar).failure == "blocked_address"
    with pytest.raises(CalendarAddressRefused):
        add_calendar(staff=mia, name="P", address="http://127.0.0.1:8000/a.ics", now=now(), by=SYSTEM)


def test_a_calendar_is_removed_with_its_times(mia: Staff, start_receiver: Any) -> None:
    receiver = start_receiver(answer(response(APPOINTMENT)))
    calendars = [added(mia, receiver) for _ in range(10)]
    with pytest.raises(TooManyCalendars):
        added(mia, receiver)
    read_next_calendars(limits=PATIENT)
    assert ExternalBusy.objects.count() == 8
    for calendar in calendars[:8]:
        remove_calendar(calendar=calendar, by=SYSTEM)
    with pytest.raises(CalendarNotFound):
        remove_calendar(calendar=calendars[0], by=SYSTEM)
    assert not ExternalBusy.objects.exists()
    assert "secret.ics" not in str(list(ActivityEntry.objects.values()))
    Staff.objects.update(deleted_at=now())
    read_next_calendars(limits=PATIENT)
    assert not ExternalCalendar.objects.exists()

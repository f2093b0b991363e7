"""Who gets an appointment, what it occupies, and what happens when many want the same time."""

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ClassSessionFactory, ContactFactory, ServiceFactory, WorkspaceFactory
from tests.factories.appointments import (
    AppointmentFactory,
    a_bookable_service,
    a_staff_member_who_always_works,
    a_time_off,
    move_to_the_past,
    tomorrow,
)
from tests.parallel import at_once
from tests.sizes import size
from tests.tenants import Tenant
from workspaces.appointments.models import Appointment, ExternalBusy, ExternalCalendar, Hold, Occupancy
from workspaces.appointments.services.availability import free_times
from workspaces.appointments.services.booking import (
    NotAProvider,
    TimeTaken,
    book_appointment,
    book_held_time,
    end_expired_holds,
    hold_time,
    release_hold,
)
from workspaces.appointments.services.links import appointment_of_token, manage_url
from workspaces.appointments.services.moves import cancel_appointment, has_planned_appointments, reschedule_appointment
from workspaces.appointments.tasks import end_holds
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import StaffInUse, StaffNotFound, change_service, delete_staff
from workspaces.classes.services import cancel_class
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound, merge_contacts, remove_contact
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def book(service: Service, contact: Contact, starts_at: datetime, staff: Staff | None = None) -> Appointment:
    return book_appointment(
        workspace=service.workspace,
        service=service,
        contact=contact,
        starts_at=starts_at,
        staff=staff,
        now=now(),
        by=SYSTEM,
        source=Appointment.Source.API,
    )


def hold(service: Service, contact: Contact, starts_at: datetime, *, minutes: int = 35) -> Hold:
    return hold_time(
        workspace=service.workspace,
        service=service,
        contact=contact,
        starts_at=starts_at,
        expires_at=now() + minutes * MINUTE,
        now=now(),
    )


def starts_of(service: Service, day: datetime, ignoring: Appointment | None = None) -> list[str]:
    """The hours of a day at which the service is free."""
    first = day.replace(hour=0)
    found = free_times(
        workspace=service.workspace, service=service, first=first, last=first + 24 * HOUR, now=now(), ignoring=ignoring
    )
    return [one.starts_at.strftime("%H:%M") for one in found]


# One at a time --------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_an_appointment_occupies_its_time_with_its_buffers(a: Tenant) -> None:
    service = a_bookable_service(a.workspace, buffer_before=15, buffer_after=45, step_minutes=60)
    booked = book(service, a.contact, tomorrow(10))
    during = Occupancy.objects.get(appointment=booked).during
    assert (during.lower, during.upper) == (tomorrow(9, 45), tomorrow(11, 45))
    # An appointment at 8 needs its 45 minutes until 9:45, and one at 12 its 15 minutes from 11:45.
    assert [start for start in starts_of(service, tomorrow()) if "07:00" <= start <= "13:00"] == [
        "07:00",
        "08:00",
        "12:00",
        "13:00",
    ]
    cancel_appointment(appointment=booked, now=now(), by=SYSTEM)
    assert "10:00" in starts_of(service, tomorrow())


@pytest.mark.django_db
def test_times_off_external_calendars_classes_and_holds_are_busy(a: Tenant) -> None:
    service = a_bookable_service(a.workspace, step_minutes=60)
    [staff] = service.staff.all()
    time_off = a_time_off(staff)
    calendar = ExternalCalendar.objects.create(staff=staff, name="Own", address="https://x.example/", host="x.example")
    ExternalBusy.objects.create(calendar=calendar, staff=staff, during=(tomorrow(8), tomorrow(9)))
    session = ClassSessionFactory.create(workspace=a.workspace, staff=staff, starts_at=tomorrow(9))
    hold(service, a.contact, tomorrow(10))
    assert [start for start in starts_of(service, tomorrow()) if "07:00" <= start <= "11:00"] == ["07:00", "11:00"]
    assert starts_of(service, time_off.starts_at)[-1] == "09:00"
    cancel_class(session=session, now=now(), by=SYSTEM)
    assert "09:00" in starts_of(service, tomorrow())


@pytest.mark.django_db
def test_a_class_is_refused_while_its_host_is_busy(a: Tenant) -> None:
    booked = AppointmentFactory.create(workspace=a.workspace)
    with pytest.raises(TimeTaken):
        ClassSessionFactory.create(workspace=a.workspace, staff=booked.staff, starts_at=booked.starts_at + 30 * MINUTE)
    ClassSessionFactory.create(workspace=a.workspace, staff=booked.staff, starts_at=booked.ends_at)
    with pytest.raises(TimeTaken):
        book(booked.service, a.contact, booked.ends_at)


@pytest.mark.django_db
def test_anybody_means_who_has_least_to_do_that_day_then_who_waited_longest(a: Tenant) -> None:
    service = a_bookable_service(a.workspace, people=3)
    first, second, third = service.staff.order_by("pk")
    busy_elsewhere = ServiceFactory.create(
        workspace=a.workspace, kind="appointment", staff=[first], duration_minutes=120
    )
    book(busy_elsewhere, a.contact, tomorrow(6))
    assert [book(service, a.contact, tomorrow(hour)).staff for hour in (10, 11)] == [second, third]
    # The second and the third have one hour each, the first two.
    assert [book(service, a.contact, tomorrow(hour)).staff for hour in (14, 15)] == [second, third]
    other_day = tomorrow(10) + 24 * HOUR
    assert book(service, a.contact, other_day).staff == first
    with pytest.raises(TimeTaken):
        book(service, a.contact, other_day, staff=first)
    assert {book(service, a.contact, other_day).staff, book(service, a.contact, other_day).staff} == {second, third}
    with pytest.raises(TimeTaken):
        book(service, a.contact, other_day)


@pytest.mark.django_db
def test_only_the_services_own_staff_and_the_workspaces_own_contacts_are_booked(a: Tenant) -> None:
    service = a_bookable_service(a.workspace)
    with pytest.raises(NotAProvider):
        book(service, a.contact, tomorrow(), staff=a_staff_member_who_always_works(a.workspace))
    elsewhere = WorkspaceFactory.create()
    with pytest.raises(ContactNotFound):
        book(service, ContactFactory.create(workspace=elsewhere), tomorrow())
    with pytest.raises(StaffNotFound):
        book(service, a.contact, tomorrow(), staff=a_staff_member_who_always_works(elsewhere))
    assert not Appointment.objects.exists()


@pytest.mark.django_db
def test_every_offered_time_is_booked_and_every_other_is_refused(a: Tenant) -> None:
    service = a_bookable_service(
        a.workspace,
        people=2,
        duration_minutes=50,
        buffer_before=20,
        buffer_after=30,
        step_minutes=20,
        notice_minutes=120,
    )
    # At 10:40 and at 12:20 one of the two is busy only because of a buffer, and the other one anyway.
    for hour in (3, 11, 12):
        book(service, a.contact, tomorrow(hour))
    offered = set(starts_of(service, tomorrow()))
    assert 20 < len(offered) < 72
    every_step, between_steps = range(0, 24 * 60, 20), range(10, 24 * 60, 60)
    for minute in (*every_step, *between_steps):
        starts_at = tomorrow(*divmod(minute, 60))
        try:
            with transaction.atomic():
                book(service, a.contact, starts_at)
                transaction.set_rollback(True)
            is_booked = True
        except TimeTaken:
            is_booked = False
        assert is_booked is (starts_at.strftime("%H:%M") in offered), starts_at


@pytest.mark.django_db
def test_free_times_take_the_same_few_statements_however_many_people_there_are(a: Tenant) -> None:
    for people in (1, 12):
        service = a_bookable_service(a.workspace, people=people)
        with CaptureQueriesContext(connection) as queries:
            assert starts_of(service, tomorrow())
        # Staff, workspace, hours, exceptions, and one statement about all that is busy.
        assert len(queries) == 5


@pytest.mark.django_db
def test_an_appointment_that_is_moved_does_not_stand_in_its_own_way(a: Tenant) -> None:
    service = a_bookable_service(a.workspace, people=2, step_minutes=30)
    booked = book(service, a.contact, tomorrow(10))
    other = service.staff.exclude(pk=booked.staff_id).get()
    change_service(service=service, now=now(), by=SYSTEM, duration_minutes=30)
    assert "10:30" in starts_of(service, tomorrow(), ignoring=booked)
    moved = reschedule_appointment(appointment=booked, starts_at=tomorrow(10, 30), now=now(), by=SYSTEM)
    assert (moved.starts_at, moved.ends_at, moved.calendar_sequence) == (tomorrow(10, 30), tomorrow(11, 30), 1)
    moved = reschedule_appointment(appointment=moved, starts_at=tomorrow(12), staff=other, now=now(), by=SYSTEM)
    assert (moved.staff, moved.calendar_sequence) == (other, 2)
    during = Occupancy.objects.get(appointment=booked)
    assert (during.staff, during.during.lower) == (other, tomorrow(12))
    same = reschedule_appointment(appointment=moved, starts_at=tomorrow(12), now=now(), by=SYSTEM)
    assert same.calendar_sequence == 2


@pytest.mark.django_db
def test_the_manage_link_finds_the_appointment_and_no_other_text_does(a: Tenant) -> None:
    booked = AppointmentFactory.create(workspace=a.workspace)
    token = manage_url(booked).rsplit("/", 1)[1]
    assert len(token) == 43
    found = appointment_of_token(token)
    assert found == booked
    for other in ("", token[:-1], token + "x" * 30, str(booked.uuid), "\ud800"):
        assert appointment_of_token(other) is None
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(a)::text FROM appointments_appointment a WHERE id = %s", [booked.pk])
        assert token not in cursor.fetchone()[0]


# Holds ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_hold_becomes_one_appointment(a: Tenant) -> None:
    held = hold(a_bookable_service(a.workspace, price=20), a.contact, tomorrow())
    with pytest.raises(TimeTaken):
        book(held.service, a.contact, tomorrow())
    booked, again = [book_held_time(hold=held, now=now(), by=SYSTEM, source="booking_page") for _ in range(2)]
    assert (booked, booked.starts_at, booked.price) == (again, tomorrow(), Decimal(20))
    assert Occupancy.objects.get().appointment == booked


@pytest.mark.django_db
def test_an_expired_hold_is_booked_late_only_while_the_time_is_free(a: Tenant) -> None:
    service = a_bookable_service(a.workspace)
    late, lost = hold(service, a.contact, tomorrow(9), minutes=-1), hold(service, a.contact, tomorrow(13), minutes=-1)
    assert "13:00" in starts_of(service, tomorrow())
    winner = book(service, a.contact, tomorrow(13))
    assert book_held_time(hold=late, now=now(), by=SYSTEM, source="booking_page").starts_at == tomorrow(9)
    with pytest.raises(TimeTaken):
        book_held_time(hold=lost, now=now(), by=SYSTEM, source="booking_page")
    lost.refresh_from_db()
    assert lost.ended_at is not None
    assert set(Occupancy.objects.exclude(appointment=None).values_list("during", flat=True)) == {
        *Occupancy.objects.values_list("during", flat=True)
    }
    assert winner.status == "booked"


@pytest.mark.django_db
def test_the_task_ends_holds_that_have_expired_and_no_others(a: Tenant) -> None:
    service = a_bookable_service(a.workspace)
    expired, kept = hold(service, a.contact, tomorrow(9), minutes=-1), hold(service, a.contact, tomorrow(12))
    end_holds()
    assert list(Occupancy.objects.values_list("hold", flat=True)) == [kept.pk]
    expired.refresh_from_db()
    assert expired.ended_at is not None
    assert end_expired_holds(now=now()) == 0
    release_hold(hold=kept, now=now())
    release_hold(hold=kept, now=now())
    assert not Occupancy.objects.exists()


# People who leave -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_removed_contact_keeps_only_past_appointments_and_they_forget_it(a: Tenant) -> None:
    contact = ContactFactory.create(workspace=a.workspace)
    service = a_bookable_service(a.workspace)
    future, past = book(service, contact, tomorrow(9)), book(service, contact, tomorrow(12))
    held = hold(service, contact, tomorrow(15))
    move_to_the_past(past)
    remove_contact(contact=contact, now=now(), by=SYSTEM)
    for row in (future, past, held):
        row.refresh_from_db()
    assert [(row.status, row.contact) for row in (future, past)] == [("cancelled", None), ("booked", None)]
    assert Occupancy.objects.get().appointment == past
    assert (held.contact, held.ended_at is None) == (None, False)


@pytest.mark.django_db
def test_a_merge_moves_appointments_and_holds(a: Tenant) -> None:
    kept, gone = ContactFactory.create_batch(2, workspace=a.workspace)
    service = a_bookable_service(a.workspace)
    booked, held = book(service, gone, tomorrow()), hold(service, gone, tomorrow(14))
    merge_contacts(contact=kept, other=gone, now=now(), by=SYSTEM)
    booked.refresh_from_db()
    assert booked.contact == kept
    assert book_held_time(hold=held, now=now(), by=SYSTEM, source="booking_page").contact == kept


@pytest.mark.django_db
def test_who_has_planned_appointments_stays(a: Tenant) -> None:
    booked = AppointmentFactory.create(workspace=a.workspace)
    with pytest.raises(StaffInUse, match="Appointments are booked with this staff member"):
        delete_staff(staff=booked.staff, now=now(), by=SYSTEM)
    assert has_planned_appointments(booked.service)
    move_to_the_past(booked)
    delete_staff(staff=booked.staff, now=now(), by=SYSTEM)
    assert not has_planned_appointments(booked.service)
    assert starts_of(booked.service, tomorrow()) == []


# What the database itself refuses -------------------------------------------------------------------------------

BROKEN = (
    "DELETE FROM appointments_occupancy WHERE appointment_id = {0.pk}",
    "UPDATE appointments_appointment SET starts_at = starts_at - interval '1 minute' WHERE id = {0.pk}",
    "UPDATE appointments_appointment SET ends_at = ends_at + interval '1 minute' WHERE id = {0.pk}",
    "UPDATE appointments_appointment SET status = 'cancelled', cancelled_at = now() WHERE id = {0.pk}",
    "UPDATE appointments_occupancy SET staff_id = {2.pk} WHERE appointment_id = {0.pk}",
    "DELETE FROM appointments_occupancy WHERE hold_id = {1.pk}",
    "UPDATE appointments_hold SET ended_at = now() WHERE id = {1.pk}",
    "UPDATE appointments_hold SET expires_at = expires_at + interval '1 hour' WHERE id = {1.pk}",
    "UPDATE appointments_occupancy SET during = tstzrange(now(), now() + interval '1 hour') WHERE hold_id = {1.pk}",
    "UPDATE appointments_occupancy SET expires_at = expires_at + interval '1 hour' WHERE hold_id = {1.pk}",
)


@pytest.mark.django_db
def test_the_database_keeps_appointments_and_occupancy_together(a: Tenant) -> None:
    booked = AppointmentFactory.create(workspace=a.workspace)
    held = hold(booked.service, a.contact, tomorrow(14))
    other = a_staff_member_who_always_works(a.workspace)
    for statement in BROKEN:
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:  # noqa: PT012  # one fact
            cursor.execute(statement.format(booked, held, other))
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


# Many at once ---------------------------------------------------------------------------------------------------


def outcomes(service: Service, contacts: list[Contact], starts_at: datetime, clients: int) -> Counter[str]:
    """Let so many clients book the same time in the same moment."""

    def try_to_book(client: int) -> str:
        try:
            book(service, contacts[client], starts_at)
        except TimeTaken:
            return "taken"
        return "booked"

    return Counter(at_once(try_to_book, times=clients, threads=min(clients, MOST_CONNECTIONS)))


CLIENTS, ROUNDS = size("raced times", "clients"), size("raced times", "rounds")
# The servers of the tests take 200 connections, for all processes together.
MOST_CONNECTIONS = 80


@pytest.mark.django_db(transaction=True)
def test_one_time_is_booked_once_and_that_of_five_people_five_times() -> None:
    workspace: Workspace = WorkspaceFactory.create()
    contacts = ContactFactory.create_batch(CLIENTS, workspace=workspace)
    for people in (1, 5):
        service = a_bookable_service(workspace, people=people)
        for number in range(ROUNDS):
            found = outcomes(service, contacts, tomorrow(0) + 2 * number * HOUR, CLIENTS)
            assert found == {"booked": people, "taken": CLIENTS - people}
        assert (
            service.appointments.count()
            == people * ROUNDS
            == Occupancy.objects.filter(appointment__service=service).count()
        )


@pytest.mark.django_db(transaction=True)
def test_a_class_and_an_appointment_that_want_the_same_time_do_not_both_get_it() -> None:
    workspace: Workspace = WorkspaceFactory.create()
    service, contact = a_bookable_service(workspace), ContactFactory.create(workspace=workspace)
    [staff] = service.staff.all()
    of_classes = ServiceFactory.create(workspace=workspace)

    def try_one(number: int) -> bool:
        try:
            if number % 2:
                book(service, contact, tomorrow())
            else:
                ClassSessionFactory.create(
                    workspace=workspace, service=of_classes, staff=staff, starts_at=tomorrow(9, 30)
                )
        except TimeTaken:
            return False
        return True

    assert sum(at_once(try_one, times=8)) == Occupancy.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_who_swap_their_times_are_refused_or_served_but_never_deadlocked() -> None:
    workspace: Workspace = WorkspaceFactory.create()
    service = a_bookable_service(workspace, people=2)
    contact = ContactFactory.create(workspace=workspace)
    one, two = book(service, contact, tomorrow(10)), book(service, contact, tomorrow(10))

    def swap(number: int) -> UUID | None:
        mine, theirs = (one, two) if number % 2 else (two, one)
        try:
            move = partial(reschedule_appointment, appointment=mine, now=now(), by=SYSTEM)
            return move(starts_at=tomorrow(10), staff=theirs.staff).staff.uuid
        except TimeTaken:
            return None

    for _ in range(3):
        assert set(at_once(swap, times=6)) == {None}
    assert {row.staff_id for row in Appointment.objects.all()} == {one.staff_id, two.staff_id}

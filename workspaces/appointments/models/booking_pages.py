"""The public page on which visitors book appointments and seats in classes, and what they type there."""

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.timezone import now

from config.encryption import EncryptedTextField
from workspaces.appointments.models.appointments import LONGEST_NOTE, Appointment, Hold
from workspaces.catalogue.models import Service, Staff
from workspaces.classes.models import ClassSession, Participant, WaitingListEntry
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace

LONGEST_SLUG = 60
LONGEST_INTRODUCTION = 2_000
LONGEST_CANCEL_NOTICE = 30 * 24 * 60


class BookingPage(models.Model):
    """A workspace's booking page, at `/book/{slug}` on its agency's host.

    Visitors may reschedule and cancel until `cancel_notice_minutes` before the appointment, and give seats back until
    then. With `offers_classes` they book seats in classes, too.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="booking_page")
    slug = models.CharField(max_length=LONGEST_SLUG, unique=True)
    enabled = models.BooleanField(default=False)
    introduction = models.CharField(max_length=LONGEST_INTRODUCTION, blank=True)
    cancel_notice_minutes = models.PositiveIntegerField(default=0)
    offers_classes = models.BooleanField(default=True, db_default=True)
    changed_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(slug__regex=r"^[a-z0-9]+(-[a-z0-9]+)*$"), name="booking_page_slug_is_plain"
            ),
            models.CheckConstraint(
                condition=Q(cancel_notice_minutes__lte=LONGEST_CANCEL_NOTICE),
                name="booking_page_notice_is_up_to_30_days",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def notice(self) -> timedelta:
        return timedelta(minutes=self.cancel_notice_minutes)


class ClassBookingQuerySet(models.QuerySet["ClassBooking"]):
    def with_names(self) -> Self:
        """Join what pages and e-mails about a seat say."""
        return self.select_related("session__service", "session__staff", "session__workspace", "contact")

    def seated(self) -> Self:
        """Keep the bookings whose contact has a seat."""
        return self.filter(_of_contact(Participant.objects.all()))

    def waiting(self) -> Self:
        """Keep the bookings whose contact is on the waiting list."""
        return self.filter(_of_contact(WaitingListEntry.objects.all()))

    def by_visitors(self) -> Self:
        """Keep the bookings that visitors made. Who only moved up from the waiting list has no language."""
        return self.exclude(language="")

    def ahead(self, contact: Contact, now: datetime) -> Self:
        """Keep a contact's seats and places in classes that have not begun."""
        coming = self.filter(contact=contact, session__starts_at__gt=now, session__status="scheduled")
        return coming.filter(Q(_of_contact(Participant.objects.all())) | Q(_of_contact(WaitingListEntry.objects.all())))


def _of_contact(rows: "models.QuerySet[Participant] | models.QuerySet[WaitingListEntry]") -> Exists:
    return Exists(rows.filter(session=OuterRef("session"), contact=OuterRef("contact")))


class ClassBooking(models.Model):
    """What a contact is told about a class: the page of a seat or of a place on the waiting list, and the e-mails.

    A visitor of the booking page has one, and so has who moved up from the waiting list. Who has a seat or waits is in
    `classes` alone. `contact` is empty once the contact was removed. After a merge, a contact may have two for a class;
    both are about the same seat. `timezone` and `language` are those of the booking page as the visitor saw it; who
    only moved up has no language. `calendar_sequence` counts the changes for calendars. `token` opens the page, and
    `token_digest` finds it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey(ClassSession, on_delete=models.PROTECT, related_name="+", db_index=False)
    contact = models.ForeignKey(Contact, null=True, on_delete=models.SET_NULL, related_name="+")
    timezone = models.CharField(max_length=64)
    language = models.CharField(max_length=10, blank=True)
    calendar_sequence = models.PositiveIntegerField(default=0)
    token = EncryptedTextField(bound_to="uuid")
    token_digest = models.BinaryField(unique=True)
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)

    objects = ClassBookingQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["session", "contact"], name="class_booking_of_class")]

    def __str__(self) -> str:
        return f"Booking of {self.session_id}"


class VisitorBooking(models.Model):
    """What a visitor has typed on a booking page. It takes no time before a code shows that the e-mail is theirs.

    The code is computed from `uuid` and stored nowhere. `tries` counts the codes that were typed, and `verified_at` is
    when one of them was right. Then it becomes one appointment, or a hold while the deposit is paid. With
    `class_session` it becomes a seat in that class; with `waits` a place on the waiting list if the class is full.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    service = models.ForeignKey(Service, on_delete=models.CASCADE, related_name="+", db_index=False)
    staff = models.ForeignKey(Staff, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    starts_at = models.DateTimeField()
    timezone = models.CharField(max_length=64)
    language = models.CharField(max_length=10, blank=True)
    name = models.CharField(max_length=120)
    email = models.CharField(max_length=254)
    phone = models.CharField(max_length=40, blank=True)
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    verified_at = models.DateTimeField(null=True)
    appointment = models.OneToOneField(Appointment, null=True, on_delete=models.CASCADE, related_name="+")
    hold = models.OneToOneField(Hold, null=True, on_delete=models.CASCADE, related_name="+")
    class_session = models.ForeignKey(
        ClassSession, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    waits = models.BooleanField(default=False, db_default=False)
    class_booking = models.ForeignKey(
        ClassBooking, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["email", "created_at"], name="visitor_booking_of_address")]

    def __str__(self) -> str:
        return f"{self.service} at {self.starts_at:%Y-%m-%d %H:%M}, asked for"

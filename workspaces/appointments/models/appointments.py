"""Appointments, times held while somebody pays, and the table of all times at which staff are occupied."""

import uuid
from typing import Self

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from config.encryption import EncryptedTextField
from workspaces.catalogue.models import PRICE_DECIMALS, PRICE_DIGITS, Service, Staff
from workspaces.classes.models import ClassSession
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace

LONGEST_NOTE = 1_000


class AppointmentQuerySet(models.QuerySet["Appointment"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the appointments of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)

    def with_names(self) -> Self:
        """Join the service, the staff member and the contact, which every answer contains."""
        return self.select_related("service", "staff", "contact")

    def by_start(self) -> Self:
        return self.order_by("starts_at", "id")


class Appointment(models.Model):
    """A contact's appointment with a staff member. `contact` is empty once the contact was removed.

    `timezone` is the clock of the person who booked, and `language` that of the booking page as they saw it. `price`
    and `currency` are those of the service at that time. `calendar_sequence` counts the changes of times, and the
    cancellation, for calendars. `token` opens the page on which the contact manages the appointment; `token_digest`
    finds the appointment by it.
    """

    class Status(models.TextChoices):
        BOOKED = "booked", _("Booked")
        CONFIRMED = "confirmed", _("Confirmed")
        CANCELLED = "cancelled", _("Cancelled")
        COMPLETED = "completed", _("Completed")
        MISSED = "missed", _("Missed")

    class Source(models.TextChoices):
        API = "api", _("API")
        DASHBOARD = "dashboard", _("Dashboard")
        BOOKING_PAGE = "booking_page", _("Booking page")
        AUTOMATION = "automation", _("Automation")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="appointments", db_index=False)
    contact = models.ForeignKey(
        Contact, null=True, blank=True, on_delete=models.SET_NULL, related_name="appointments", db_index=False
    )
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="appointments", db_index=False)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="appointments", db_index=False)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    status = models.CharField(max_length=20, choices=Status, default=Status.BOOKED)
    source = models.CharField(max_length=20, choices=Source)
    timezone = models.CharField(max_length=64)
    language = models.CharField(max_length=10, blank=True, default="", db_default="")
    price = models.DecimalField(max_digits=PRICE_DIGITS, decimal_places=PRICE_DECIMALS, null=True, blank=True)
    currency = models.CharField(max_length=3)
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    calendar_sequence = models.PositiveIntegerField(default=0)
    token = EncryptedTextField(bound_to="uuid")
    token_digest = models.BinaryField(unique=True)
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)
    cancelled_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = AppointmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="appointment_ends_after_it_starts"),
            models.CheckConstraint(
                condition=Q(status__in=["booked", "confirmed", "cancelled", "completed", "missed"]),
                name="appointment_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(status="cancelled", cancelled_at__isnull=False)
                | (~Q(status="cancelled") & Q(cancelled_at=None)),
                name="appointment_cancellation_has_a_time",
            ),
            models.CheckConstraint(condition=Q(price=None) | Q(price__gte=0), name="appointment_price_is_not_negative"),
        ]
        indexes = [
            models.Index(fields=["workspace", "starts_at", "id"], name="appointment_by_start"),
            models.Index(fields=["workspace", "status", "starts_at", "id"], name="appointment_by_status"),
            models.Index(fields=["service", "starts_at", "id"], name="appointment_of_service"),
            models.Index(fields=["staff", "starts_at", "id"], name="appointment_of_staff"),
            models.Index(fields=["contact", "starts_at", "id"], name="appointment_of_contact"),
            models.Index(fields=["staff", "-created_at"], name="appointment_last_booked"),
        ]

    def __str__(self) -> str:
        return f"{self.service} at {self.starts_at:%Y-%m-%d %H:%M}"

    @property
    def is_open(self) -> bool:
        """Say whether it may still be changed: it is booked or confirmed."""
        return self.status in (self.Status.BOOKED, self.Status.CONFIRMED)


class Hold(models.Model):
    """A time that is kept for a visitor until `expires_at`, while they pay the deposit. Then it becomes an appointment.

    `contact` is empty once the contact was removed. `appointment` is the appointment that it became. `invoice` is the
    uuid of the deposit's invoice in `finance`.
    `check_at` is when to look whether it was paid, empty once that is settled. `refunded_at` is when it was paid back,
    because the time was no longer free or the contact no longer there.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="holds", db_index=False)
    contact = models.ForeignKey(Contact, null=True, blank=True, on_delete=models.SET_NULL, related_name="holds")
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="holds")
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="holds")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    timezone = models.CharField(max_length=64)
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    invoice = models.UUIDField(null=True, blank=True, unique=True)
    appointment = models.OneToOneField(
        Appointment, null=True, blank=True, on_delete=models.PROTECT, related_name="former_hold"
    )
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    check_at = models.DateTimeField(null=True, blank=True)
    refunded_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="hold_ends_after_it_starts")
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(ended_at=None), name="hold_to_expire"),
            models.Index(fields=["check_at"], condition=Q(check_at__isnull=False), name="hold_to_check"),
        ]

    def __str__(self) -> str:
        return f"{self.service} at {self.starts_at:%Y-%m-%d %H:%M}, held"


class Occupancy(models.Model):
    """A time at which a staff member is occupied, its buffers included. No two of one person overlap.

    It belongs to one appointment, one class or one hold. Cancelling deletes it. `expires_at` is set for a hold only;
    an expired row counts no more, and the next booking deletes it.
    """

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="occupancies", db_index=False)
    during = DateTimeRangeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    appointment = models.OneToOneField(
        Appointment, null=True, blank=True, on_delete=models.CASCADE, related_name="occupancy"
    )
    class_session = models.OneToOneField(
        ClassSession, null=True, blank=True, on_delete=models.CASCADE, related_name="occupancy"
    )
    hold = models.OneToOneField(Hold, null=True, blank=True, on_delete=models.CASCADE, related_name="occupancy")

    class Meta:
        verbose_name_plural = "occupancies"
        constraints = [
            ExclusionConstraint(
                name="staff_occupied_once",
                expressions=[("staff", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(
                condition=Q(during__isempty=False, during__lower_inc=True, during__upper_inc=False)
                & Q(during__lower_inf=False, during__upper_inf=False),
                name="occupancy_has_a_beginning_and_an_end",
            ),
            models.CheckConstraint(
                condition=Q(appointment__isnull=False, class_session=None, hold=None, expires_at=None)
                | Q(appointment=None, class_session__isnull=False, hold=None, expires_at=None)
                | Q(appointment=None, class_session=None, hold__isnull=False, expires_at__isnull=False),
                name="occupancy_belongs_to_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.staff_id} {self.during}"

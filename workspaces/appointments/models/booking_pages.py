"""The public page on which visitors book appointments, and what they type there."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from workspaces.appointments.models.appointments import LONGEST_NOTE, Appointment, Hold
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.models import Workspace

LONGEST_SLUG = 60
LONGEST_INTRODUCTION = 2_000
LONGEST_CANCEL_NOTICE = 30 * 24 * 60


class BookingPage(models.Model):
    """A workspace's booking page, at `/book/{slug}` on its agency's host.

    Visitors may reschedule and cancel until `cancel_notice_minutes` before the appointment.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="booking_page")
    slug = models.CharField(max_length=LONGEST_SLUG, unique=True)
    enabled = models.BooleanField(default=False)
    introduction = models.CharField(max_length=LONGEST_INTRODUCTION, blank=True)
    cancel_notice_minutes = models.PositiveIntegerField(default=0)
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


class VisitorBooking(models.Model):
    """What a visitor has typed on a booking page. It takes no time before a code shows that the e-mail is theirs.

    The code is computed from `uuid` and stored nowhere. `tries` counts the codes that were typed, and `verified_at` is
    when one of them was right. Then it becomes one appointment, or a hold while the deposit is paid.
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
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["email", "created_at"], name="visitor_booking_of_address")]

    def __str__(self) -> str:
        return f"{self.service} at {self.starts_at:%Y-%m-%d %H:%M}, asked for"

"""When staff members work, when they are away or busy elsewhere, and where other programs read their calendar."""

import uuid

from django.contrib.postgres.fields import DateTimeRangeField
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from config.encryption import EncryptedTextField
from workspaces.catalogue.models import Staff
from workspaces.subaccounts.models import Workspace

LONGEST_REASON = 200
LONGEST_CALENDAR_NAME = 120


class WorkingHours(models.Model):
    """The weekly hours of a staff member, by the clock of `timezone`.

    `weekly` names all seven days with their intervals: `{"monday": [["09:00", "17:00"]], …}`. A staff member without a
    row works at the opening hours of the business.
    """

    staff = models.OneToOneField(Staff, on_delete=models.CASCADE, primary_key=True, related_name="working_hours")
    timezone = models.CharField(max_length=64)
    weekly = models.JSONField(default=dict)
    updated_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name_plural = "working hours"

    def __str__(self) -> str:
        return f"Working hours of {self.staff_id}"


class HoursException(models.Model):
    """The hours of one date, which replace those of its weekday. Without intervals the person does not work."""

    staff = models.ForeignKey(Staff, on_delete=models.CASCADE, related_name="hours_exceptions", db_index=False)
    date = models.DateField()
    intervals = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["staff", "date"], name="hours_exception_once_per_date")]

    def __str__(self) -> str:
        return f"{self.date} of {self.staff_id}"


class TimeOff(models.Model):
    """A time in which a staff member takes no appointments."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    staff = models.ForeignKey(Staff, on_delete=models.CASCADE, related_name="times_off", db_index=False)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.CharField(max_length=LONGEST_REASON, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name_plural = "times off"
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="time_off_ends_after_it_starts")
        ]
        indexes = [models.Index(fields=["staff", "ends_at", "id"], name="time_off_by_end")]

    def __str__(self) -> str:
        return f"{self.staff_id} away from {self.starts_at:%Y-%m-%d %H:%M}"


class ExternalCalendar(models.Model):
    """A calendar elsewhere, read by its ICS address. Its events keep a staff member busy here.

    `due_at` is when it is read next. `tries` counts readings that began and did not end. `failure` is the code of the
    last failed reading, empty after a good one; `content_digest` recognises content that has not changed.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    staff = models.ForeignKey(Staff, on_delete=models.CASCADE, related_name="external_calendars")
    name = models.CharField(max_length=LONGEST_CALENDAR_NAME)
    address = EncryptedTextField(bound_to="uuid")
    host = models.CharField(max_length=253)
    due_at = models.DateTimeField(default=now)
    tries = models.PositiveSmallIntegerField(default=0)
    read_at = models.DateTimeField(null=True, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(max_length=40, blank=True, default="")
    etag = models.CharField(max_length=200, blank=True, default="")
    content_digest = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["due_at", "id"], name="external_calendar_due")]

    def __str__(self) -> str:
        return self.name


class ExternalBusy(models.Model):
    """A time at which an external calendar says that a staff member is busy."""

    calendar = models.ForeignKey(ExternalCalendar, on_delete=models.CASCADE, related_name="busy_times")
    staff = models.ForeignKey(Staff, on_delete=models.CASCADE, related_name="external_busy_times", db_index=False)
    during = DateTimeRangeField()

    class Meta:
        verbose_name_plural = "external busy times"
        constraints = [models.CheckConstraint(condition=Q(during__isempty=False), name="external_busy_is_not_empty")]
        indexes = [GistIndex(fields=["staff", "during"], name="external_busy_of_staff")]

    def __str__(self) -> str:
        return f"{self.staff_id} busy {self.during}"


class CalendarFeed(models.Model):
    """The secret address at which calendar programs read a staff member's appointments and classes.

    `token` is its secret part, and `token_digest` finds the feed by it. `created_at` is when the address was made.
    `last_fetched_at` is written at most once an hour.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="calendar_feeds", db_index=False)
    staff = models.OneToOneField(Staff, on_delete=models.CASCADE, related_name="calendar_feed")
    token = EncryptedTextField(bound_to="uuid")
    token_digest = models.BinaryField(unique=True)
    created_at = models.DateTimeField(default=now, editable=False)
    last_fetched_at = models.DateTimeField(null=True, blank=True, editable=False)

    def __str__(self) -> str:
        return f"Calendar of {self.staff_id}"

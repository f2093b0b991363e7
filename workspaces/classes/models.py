"""Group classes with a number of seats, the contacts who have a seat or wait for one, and series of classes."""

import uuid
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from workspaces.catalogue.models import Service, Staff
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace

MOST_SEATS = 10_000
LONGEST_MINUTES = 1_440
LONGEST_INTERVAL = 52
MOST_OF_A_COUNT = 200


class ClassSeriesQuerySet(models.QuerySet["ClassSeries"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the series of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)

    def with_names(self) -> Self:
        """Join the service and the staff member, which every answer contains."""
        return self.select_related("service", "staff")

    def with_left_out(self) -> Self:
        """Fetch the dates without a class beside, in their order."""
        return self.prefetch_related(models.Prefetch("left_out", LeftOutDate.objects.order_by("date")))


class ClassSeries(models.Model):
    """A rule by which classes take place again and again, by the clock of `timezone`.

    `first_date` is the first date of the rule. `weekdays` (Monday is 0) belong to a rule in weeks. It goes on until
    `until`, or for `count` classes, or without an end. Classes were made up to `made_through`; at `due_at` more are
    made. An ended series has no `due_at`.
    """

    class Unit(models.TextChoices):
        DAYS = "days", _("days")
        WEEKS = "weeks", _("weeks")
        MONTHS = "months", _("months")

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        ENDED = "ended", _("Ended")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="class_series", db_index=False)
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="class_series")
    staff = models.ForeignKey(Staff, null=True, blank=True, on_delete=models.PROTECT, related_name="class_series")
    first_date = models.DateField()
    start_time = models.TimeField()
    timezone = models.CharField(max_length=64)
    duration_minutes = models.PositiveIntegerField()
    capacity = models.PositiveIntegerField()
    interval = models.PositiveSmallIntegerField(default=1)
    unit = models.CharField(max_length=10, choices=Unit, default=Unit.WEEKS)
    weekdays = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    until = models.DateField(null=True, blank=True)
    count = models.PositiveSmallIntegerField(null=True, blank=True)
    made_through = models.DateField(null=True, blank=True, editable=False)
    due_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ClassSeriesQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "class series"
        constraints = [
            models.CheckConstraint(condition=Q(capacity__range=(1, MOST_SEATS)), name="class_series_has_seats"),
            models.CheckConstraint(
                condition=Q(duration_minutes__range=(1, LONGEST_MINUTES)), name="class_series_lasts_a_day_at_most"
            ),
            models.CheckConstraint(
                condition=Q(interval__range=(1, LONGEST_INTERVAL), unit__in=["days", "weeks", "months"]),
                name="class_series_rule_is_known",
            ),
            models.CheckConstraint(
                condition=(Q(unit="weeks") & ~Q(weekdays=[])) | (~Q(unit="weeks") & Q(weekdays=[])),
                name="class_series_in_weeks_has_weekdays",
            ),
            models.CheckConstraint(
                condition=Q(until=None) | Q(count=None), name="class_series_ends_by_date_or_by_number"
            ),
            models.CheckConstraint(
                condition=Q(count=None) | Q(count__range=(1, MOST_OF_A_COUNT)), name="class_series_count_is_bounded"
            ),
            models.CheckConstraint(condition=Q(ended_at=None) | Q(due_at=None), name="ended_class_series_is_not_due"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="class_series_newest_first"),
            models.Index(fields=["due_at", "id"], condition=Q(due_at__isnull=False), name="class_series_due"),
        ]

    def __str__(self) -> str:
        return f"{self.service} from {self.first_date}"

    @property
    def is_ended(self) -> bool:
        return self.ended_at is not None

    @property
    def status(self) -> str:
        return self.Status.ENDED if self.is_ended else self.Status.ACTIVE


class ClassSessionQuerySet(models.QuerySet["ClassSession"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the classes of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)

    def with_names(self) -> Self:
        """Join the service and the staff member, which every answer contains."""
        return self.select_related("service", "staff")

    def by_start(self) -> Self:
        return self.order_by("starts_at", "id")


class ClassSession(models.Model):
    """One occurrence of a service of the kind class.

    `participants_count` is the number of its participants. Only a trigger writes it, and the database refuses more
    participants than `capacity`. `series_date` is the date for which its series made it. A class that was changed by
    itself (`is_changed_alone`) does not follow changes of its series.
    """

    class Status(models.TextChoices):
        SCHEDULED = "scheduled", _("Scheduled")
        CANCELLED = "cancelled", _("Cancelled")
        COMPLETED = "completed", _("Completed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="class_sessions", db_index=False)
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="class_sessions", db_index=False)
    staff = models.ForeignKey(
        Staff, null=True, blank=True, on_delete=models.PROTECT, related_name="class_sessions", db_index=False
    )
    series = models.ForeignKey(
        ClassSeries, null=True, blank=True, on_delete=models.PROTECT, related_name="sessions", db_index=False
    )
    series_date = models.DateField(null=True, blank=True, editable=False)
    is_changed_alone = models.BooleanField(default=False, db_default=False, editable=False)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    capacity = models.PositiveIntegerField()
    participants_count = models.PositiveIntegerField(default=0, editable=False)
    status = models.CharField(max_length=20, choices=Status, default=Status.SCHEDULED)
    created_at = models.DateTimeField(default=now, editable=False)

    objects = ClassSessionQuerySet.as_manager()

    class Meta:
        verbose_name = "class"
        verbose_name_plural = "classes"
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="class_ends_after_it_starts"),
            models.CheckConstraint(condition=Q(capacity__range=(1, MOST_SEATS)), name="class_has_seats"),
            models.CheckConstraint(condition=Q(participants_count__lte=F("capacity")), name="class_is_never_oversold"),
            models.CheckConstraint(
                condition=Q(status__in=["scheduled", "cancelled", "completed"]), name="class_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(series=None, series_date=None) | Q(series__isnull=False, series_date__isnull=False),
                name="class_of_a_series_has_its_date",
            ),
            models.UniqueConstraint(
                fields=["series", "series_date"], condition=Q(series__isnull=False), name="class_once_per_series_date"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "starts_at", "id"], name="class_by_start"),
            models.Index(fields=["workspace", "status", "starts_at", "id"], name="class_by_status"),
            models.Index(fields=["service", "starts_at", "id"], name="class_of_service"),
            models.Index(fields=["staff", "starts_at", "id"], condition=Q(staff__isnull=False), name="class_of_staff"),
            models.Index(fields=["ends_at"], condition=Q(status="scheduled"), name="class_not_over_yet"),
        ]

    def __str__(self) -> str:
        return f"{self.service} at {self.starts_at:%Y-%m-%d %H:%M}"

    @property
    def is_full(self) -> bool:
        return self.participants_count >= self.capacity

    @property
    def free_seats(self) -> int:
        return self.capacity - self.participants_count


class Participant(models.Model):
    """A contact's seat in a class."""

    session = models.ForeignKey(ClassSession, on_delete=models.PROTECT, related_name="participants", db_index=False)
    contact = models.ForeignKey(Contact, on_delete=models.CASCADE, related_name="class_seats")
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "contact"], name="participant_once_per_class")]
        indexes = [models.Index(fields=["session", "id"], name="participant_in_order")]

    def __str__(self) -> str:
        return f"{self.contact} in {self.session}"


class WaitingListEntry(models.Model):
    """A contact who waits for a seat in a full class. The order of the ids is the order of the list."""

    session = models.ForeignKey(ClassSession, on_delete=models.PROTECT, related_name="waiting", db_index=False)
    contact = models.ForeignKey(Contact, on_delete=models.CASCADE, related_name="class_waits")
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name_plural = "waiting list entries"
        constraints = [models.UniqueConstraint(fields=["session", "contact"], name="waits_once_per_class")]
        indexes = [models.Index(fields=["session", "id"], name="waiting_list_in_order")]

    def __str__(self) -> str:
        return f"{self.contact} waits for {self.session}"


class LeftOutDate(models.Model):
    """A date for which a series made no class, because its host was busy at that time or the class was refused."""

    class Reason(models.TextChoices):
        HOST_BUSY = "host_busy", _("The host is busy at this time.")
        REFUSED = "refused", _("The class was refused.")

    series = models.ForeignKey(ClassSeries, on_delete=models.CASCADE, related_name="left_out", db_index=False)
    date = models.DateField()
    starts_at = models.DateTimeField()
    reason = models.CharField(max_length=20, choices=Reason)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["series", "date"], name="left_out_once_per_date")]

    def __str__(self) -> str:
        return f"{self.date} of {self.series_id}"

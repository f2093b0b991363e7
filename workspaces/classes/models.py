"""Group classes with a number of seats, and the contacts who have a seat."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from workspaces.catalogue.models import Service, Staff
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace

MOST_SEATS = 10_000


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
    participants than `capacity`.
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
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    capacity = models.PositiveIntegerField()
    participants_count = models.PositiveIntegerField(default=0, editable=False)
    status = models.CharField(max_length=20, choices=Status, default=Status.SCHEDULED)
    created_at = models.DateTimeField(default=now, editable=False)

    objects: ClassVar[ClassSessionQuerySet] = ClassSessionQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

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

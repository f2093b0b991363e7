"""Jobs: work that a person has asked for and that runs in the background, as bulk operations and exports."""

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.models.agencies import Agency

ACTIVE = ("waiting", "running")


class Job(models.Model):
    """A job that `created_by` asked for in the console, for their agency alone.

    `query` holds the list's filters, as they stood in its address. `cursor` is how far the list has been read.
    A job that may not go on was stopped; one that broke off too often has failed. `stopped_because` is a sentence for
    both. `address` and `request_id` are those of the request that asked for the job.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        CANCELLED = "cancelled", _("Cancelled")
        STOPPED = "stopped", _("Stopped")
        FAILED = "failed", _("Failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=60)
    query = models.TextField(blank=True)
    cursor = models.JSONField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    stopped_because = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=45, blank=True)
    request_id = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Whether the job has not ended yet."""
        return self.state in ACTIVE

    @property
    def actor(self) -> Actor:
        """The person who asked for the job, with the address and the id of their request."""
        user = self.created_by
        return Actor(
            kind="user", id=str(user.pk), label=user.get_username(), address=self.address, request_id=self.request_id
        )

    @staticmethod
    def asked_by(by: Actor) -> dict[str, Any]:
        """Return the columns that record who asks."""
        return {"created_by_id": int(by.id), "address": by.address, "request_id": by.request_id}


LONGEST_ERROR = 500


class BulkOperation(Job):
    """Runs the action `kind` on each object that was picked, or on all that match the list's filters.

    `picked` holds the public ids of the picked objects; null means all that match. `parameters` belong to the action,
    such as the plan. While the operation waits, its items are made in chunks, from `cursor` on; objects newer than the
    operation get no item. Each count changes in the transaction that changes an item.
    """

    picked = ArrayField(models.UUIDField(), null=True)
    parameters = models.JSONField(default=dict)
    total = models.IntegerField(default=0)
    succeeded = models.IntegerField(default=0)
    unchanged = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=ACTIVE, ended_at=None) | (~Q(state__in=ACTIVE) & Q(ended_at__isnull=False)),
                name="bulk_operation_ends_once",
            ),
            models.CheckConstraint(
                condition=Q(total__gte=F("succeeded") + F("unchanged") + F("failed")), name="bulk_operation_counts_fit"
            ),
        ]
        indexes = [
            models.Index(fields=["agency", "-id"], name="bulk_operation_newest"),
            models.Index(fields=["id"], condition=Q(state__in=ACTIVE), name="bulk_operation_active"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.total}"

    @property
    def done(self) -> int:
        """How many items are finished: succeeded, unchanged or failed."""
        return self.succeeded + self.unchanged + self.failed

    @property
    def left(self) -> int:
        return self.total - self.done

    @property
    def percent(self) -> int:
        return 100 * self.done // max(1, self.total)


class BulkOperationItem(models.Model):
    """One object, by its row's id, with its result; `error` is a sentence that says why the action failed."""

    class State(models.TextChoices):
        PENDING = "pending", _("Not done yet")
        SUCCEEDED = "succeeded", _("Done")
        UNCHANGED = "unchanged", _("Unchanged")
        FAILED = "failed", _("Failed")

    operation = models.ForeignKey(BulkOperation, on_delete=models.CASCADE, db_index=False, related_name="items")
    target_id = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    error = models.CharField(max_length=LONGEST_ERROR, blank=True)
    done_at = models.DateTimeField(null=True)

    COUNTED: ClassVar[tuple[str, ...]] = ("succeeded", "unchanged", "failed")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["operation", "target_id"], name="bulk_operation_item_once"),
            models.CheckConstraint(
                condition=Q(state="pending", done_at=None) | (~Q(state="pending") & Q(done_at__isnull=False)),
                name="bulk_operation_item_done_has_a_time",
            ),
            models.CheckConstraint(
                condition=(Q(state="failed") & ~Q(error="")) | (~Q(state="failed") & Q(error="")),
                name="bulk_operation_item_failed_says_why",
            ),
        ]
        indexes = [
            models.Index(fields=["operation", "id"], name="bulk_operation_item_in_order"),
            models.Index(fields=["operation", "state", "id"], name="bulk_operation_item_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.target_id} of {self.operation_id}"


class Export(Job):
    """Writes the rows that the list `kind` shows with these filters, newest first, from `cursor` on.

    `is_cut` means that there were more rows than a file may hold. `total` is the number of rows when the export began;
    null if it was not counted.
    """

    class Format(models.TextChoices):
        CSV = "csv", _("CSV, for spreadsheets")
        JSON_LINES = "jsonl", _("JSON Lines, for other programs")

    format = models.CharField(max_length=5, choices=Format, default=Format.CSV)
    total = models.IntegerField(null=True)
    rows = models.IntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    is_cut = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=ACTIVE, ended_at=None) | (~Q(state__in=ACTIVE) & Q(ended_at__isnull=False)),
                name="export_ends_once",
            ),
            models.CheckConstraint(condition=Q(format__in=["csv", "jsonl"]), name="export_format_is_known"),
        ]
        indexes = [
            models.Index(fields=["agency", "-id"], name="export_newest"),
            models.Index(fields=["id"], condition=Q(state__in=ACTIVE), name="export_active"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}.{self.format}"

    @property
    def percent(self) -> int | None:
        """How much is written, in percent; None if the total is unknown."""
        return None if self.total is None else min(100, 100 * self.rows // max(1, self.total))


class ExportPart(models.Model):
    """Some lines of a file; the parts are in the order of their numbers."""

    export = models.ForeignKey(Export, on_delete=models.CASCADE, db_index=False, related_name="parts")
    number = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export", "number"], name="export_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.export_id}"

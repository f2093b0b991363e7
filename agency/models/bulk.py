"""Bulk operations: one change of many objects, with a row for the result of each."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from agency.models.jobs import ACTIVE, Job

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
                condition=Q(total__gte=F("succeeded") + F("unchanged") + F("failed")),
                name="bulk_operation_counts_fit",
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
        UNCHANGED = "unchanged", _("Was so already")
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

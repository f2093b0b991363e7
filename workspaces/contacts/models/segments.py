"""Segments: saved filters over a workspace's contacts."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from config.db import LONGEST_NAME_KEY
from workspaces.subaccounts.models import Workspace

LONGEST_SEGMENT_NAME = 120
MOST_SEGMENTS = 500


class SegmentQuerySet(models.QuerySet["Segment"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the segments of one workspace. Every view's query starts here."""
        return self.filter(workspace=workspace)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Segment(models.Model):
    """A saved filter. `filter` holds only the conditions that were given, each in its checked form.

    `counted_size` is the number of contacts at `counted_at`. It is stored for segments that take long to count.
    `recount_asked_at` is the time since when a newer number is wanted.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="segments", db_index=False)
    name = models.CharField(max_length=LONGEST_SEGMENT_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    filter = models.JSONField(default=dict, db_default={})
    counted_size = models.IntegerField(null=True, editable=False)
    counted_at = models.DateTimeField(null=True, editable=False)
    recount_asked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)

    size: int | None  # the number of contacts, set by `with_sizes`; None until the first count is done

    objects: ClassVar[SegmentQuerySet] = SegmentQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name_key"], name="segment_name_once_per_workspace"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="segment_has_a_name"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="segment_newest"),
            models.Index(
                fields=["recount_asked_at"], condition=Q(recount_asked_at__isnull=False), name="segment_to_recount"
            ),
        ]

    def __str__(self) -> str:
        return self.name

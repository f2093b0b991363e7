"""The people who work in a workspace's business."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from config.db import like_pattern, name_key
from workspaces.subaccounts.models import Workspace

LONGEST_NAME = 120


class StaffQuerySet(models.QuerySet["Staff"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the staff of one workspace who are not deleted. Every query of a view begins here."""
        return self.filter(workspace=workspace, deleted_at=None)

    def matching(self, fragment: str) -> Self:
        """Keep the staff whose name contains the fragment, in any case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def by_name(self) -> Self:
        return self.order_by("name_key", "id")


class Staff(models.Model):
    """A person who hosts classes, not a user. The row of a deleted one stays, because past classes refer to it."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="staff", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=480, editable=False)
    email = models.CharField(max_length=254, null=True, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[StaffQuerySet] = StaffQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        verbose_name_plural = "staff"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name_key"], condition=Q(deleted_at=None), name="staff_name_once_per_workspace"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="staff_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

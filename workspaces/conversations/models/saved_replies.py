"""Saved replies: texts that a workspace's team uses often."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.db import like_pattern, name_key
from workspaces.subaccounts.models import Workspace

LONGEST_NAME = 60
LONGEST_REPLY = 2_000


class SavedReplyQuerySet(models.QuerySet["SavedReply"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the saved replies of one workspace."""
        return self.filter(workspace=workspace)

    def by_name(self) -> Self:
        return self.order_by("name_key", "id")

    def matching(self, fragment: str) -> Self:
        """Keep the saved replies with the fragment in their name or text, in any case."""
        return self.filter(Q(name_key__like=like_pattern(name_key(fragment))) | Q(text__icontains=fragment))


class SavedReply(models.Model):
    """A text that is inserted into an answer by its name. Variables such as `{{contact.first_name}}` are filled in."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="saved_replies", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=4 * LONGEST_NAME)
    text = models.CharField(max_length=LONGEST_REPLY)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[SavedReplyQuerySet] = SavedReplyQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        verbose_name_plural = "saved replies"
        constraints = [models.UniqueConstraint(fields=["workspace", "name_key"], name="saved_reply_once_per_name")]

    def __str__(self) -> str:
        return self.name

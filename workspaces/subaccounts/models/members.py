"""The people who work in a workspace besides its owner."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from workspaces.subaccounts.models.workspaces import Workspace


class WorkspaceMember(models.Model):
    """A person who works in a workspace that somebody else owns.

    The owner is named in `Workspace.owner` only. The services, under the workspace's lock, keep anyone from being both.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, db_index=False, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="workspace_memberships")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="workspace_member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"

"""API keys of a workspace: only a digest is kept."""

import uuid

from django.db import models
from django.utils import timezone

from workspaces.subaccounts.models.workspaces import Workspace


class WorkspaceKey(models.Model):
    """Outlives its workspace, so that a call with it is answered that the workspace is gone."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.SET_NULL, related_name="keys")
    name = models.CharField(max_length=120)
    key_hash = models.BinaryField(unique=True)
    prefix = models.CharField(max_length=12)
    created_by = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "workspace API key"
        indexes = [models.Index(fields=["prefix", "-id"], name="workspace_key_by_prefix")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

"""API keys of a workspace. Only a digest of each is stored."""

from django.db import models

from agency.models.agencies import EXPIRES, APIKey
from workspaces.subaccounts.models.workspaces import Workspace


class WorkspaceKey(APIKey):
    """An API key of a workspace. It outlives the workspace, so that the API can answer that the workspace is gone."""

    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.SET_NULL, related_name="keys")

    class Meta:
        verbose_name = "workspace API key"
        indexes = [
            models.Index(fields=["prefix", "-id"], name="workspace_key_by_prefix"),
            models.Index(fields=["id"], condition=EXPIRES, name="workspace_key_that_expires"),
        ]

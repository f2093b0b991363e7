"""The files of a workspace, and files in the storage that have no `Media` row."""

import secrets
import uuid
from typing import Self
from urllib.parse import quote

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.services.hosts import base_url_of
from workspaces.subaccounts.models import Workspace

LONGEST_FILENAME = 200
TOKEN_BYTES = 32


def new_token() -> str:
    """Give 256 random bits, so that the file's address cannot be guessed."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def deferred_workspace_columns(path: str = "workspace") -> list[str]:
    """Give the columns of a joined workspace to `defer`: those that a file's address and hosts do not need."""
    needed = ("id", "agency", "former_agencies")
    return [f"{path}__{column.name}" for column in Workspace._meta.concrete_fields if column.name not in needed]


class MediaQuerySet(models.QuerySet["Media"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the files of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")

    def with_agency(self) -> Self:
        """Join the workspace with the columns that a file's address needs."""
        return self.select_related("workspace").defer(*deferred_workspace_columns())


class Media(models.Model):
    """A file. `storage_name` is its name in the storage. `content_type` comes from its content, not from its sender.

    Anyone who has the `token` may read the file, because providers fetch the files of messages without an API key.
    """

    class Source(models.TextChoices):
        UPLOADED = "uploaded", _("Uploaded")
        RECEIVED = "received", _("Received in a message")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="media", db_index=False)
    token = models.CharField(max_length=43, unique=True, default=new_token, editable=False)
    storage_name = models.CharField(max_length=200, unique=True)
    filename = models.CharField(max_length=LONGEST_FILENAME)
    content_type = models.CharField(max_length=100)
    size = models.BigIntegerField()
    sha256 = models.BinaryField()
    source = models.CharField(max_length=10, choices=Source, default=Source.UPLOADED)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MediaQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "media"
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="media_newest")]
        constraints = [models.CheckConstraint(condition=Q(size__gte=0), name="media_has_a_size")]

    def __str__(self) -> str:
        return self.filename

    @property
    def url(self) -> str:
        """The absolute address of the file. Anyone who has it can read the file."""
        return f"{base_url_of(self.workspace.agency_id)}{self.path}"

    @property
    def path(self) -> str:
        """The address without a host, for pages: they may load files only from their own host."""
        return f"/media/{self.token}/{quote(self.filename, safe='')}"


class UnusedFile(models.Model):
    """A file to remove from the storage once it is due.

    The row of a new file is committed before the file is stored, and deleted by the transaction that adds its `Media`.
    A crash in between leaves the row, so that the file is removed later. The row of a removed file is added when its
    `Media` is deleted.
    """

    storage_name = models.CharField(max_length=200, unique=True)
    due_at = models.DateTimeField()
    tries = models.SmallIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at", "id"], name="unused_file_due")]

    def __str__(self) -> str:
        return self.storage_name

"""Imports of files of contacts, which are processed in pieces."""

import uuid
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from workspaces.subaccounts.models import Workspace

LONGEST_FILENAME = 200
MOST_REFUSED_ROWS = 1_000


class ContactImportQuerySet(models.QuerySet["ContactImport"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the imports of one workspace. Every view's query starts here."""
        return self.filter(workspace=workspace)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class ContactImport(models.Model):
    """The import of one file, whose rows wait in pieces. `mapping` holds the field of each column, "" to leave it out.

    `default_country` applies to phone numbers without a country code. `tags` are added to every contact of the file.
    The transaction that imports a piece also removes it and advances `rows_done`. An import becomes `failed` when its
    next piece crashes again and again, so that it does not hold up the others.
    """

    class Status(models.TextChoices):
        UPLOADED = "uploaded", _("Columns to be chosen")
        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="contact_imports", db_index=False)
    filename = models.CharField(max_length=LONGEST_FILENAME)
    status = models.CharField(max_length=10, choices=Status, default=Status.UPLOADED)
    columns = models.JSONField()
    mapping = models.JSONField(default=list, db_default=[])
    tags = models.JSONField(default=list, db_default=[])
    default_country = models.CharField(max_length=2, blank=True, db_default="")
    rows_total = models.IntegerField()
    rows_done = models.IntegerField(default=0)
    created = models.IntegerField(default=0)
    updated = models.IntegerField(default=0)
    refused = models.IntegerField(default=0)
    by_label = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=now, editable=False)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    objects = ContactImportQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(rows_done=models.F("created") + models.F("updated") + models.F("refused")),
                name="contact_import_counts_add_up",
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="contact_import_newest"),
            models.Index(fields=["id"], condition=Q(status="running"), name="contact_import_running"),
        ]

    def __str__(self) -> str:
        return self.filename


class ContactImportPiece(models.Model):
    """Rows of a file that are not imported yet, as lists of texts. `first_row` is the first row's index in the file."""

    contact_import = models.ForeignKey(ContactImport, on_delete=models.CASCADE, related_name="pieces", db_index=False)
    first_row = models.IntegerField()
    rows = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contact_import", "first_row"], name="contact_import_piece_once")
        ]

    def __str__(self) -> str:
        return f"rows from {self.first_row} of import {self.contact_import_id}"


class RefusedRow(models.Model):
    """A row that was refused, with the reason. Each import keeps its first thousand."""

    contact_import = models.ForeignKey(
        ContactImport, on_delete=models.CASCADE, related_name="refused_rows", db_index=False
    )
    row = models.IntegerField()
    values = models.JSONField()
    reason = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contact_import", "row"], name="contact_import_row_refused_once")
        ]

    def __str__(self) -> str:
        return f"row {self.row} of import {self.contact_import_id}"

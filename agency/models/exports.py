"""Exports: lists as files, written in parts, kept for some days, downloaded by the agency's staff."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agency.models.jobs import ACTIVE, Job


class Export(Job):
    """Writes the rows that the list `kind` shows with these filters, newest first, from `cursor` on.

    `is_cut` means that there were more rows than a file may hold. `total` is the number of rows when the export began;
    null if it was not counted.
    """

    class Format(models.TextChoices):
        CSV = "csv", _("CSV, for programs that show tables")
        JSON_LINES = "jsonl", _("JSON Lines, for programs")

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

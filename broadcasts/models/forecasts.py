"""Audiences that are too large to be counted while the user waits."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from workspaces.subaccounts.models import Workspace


class AudienceForecast(models.Model):
    """The counts so far of a broadcast's audience, as if it began at `starts_at`. The broadcast need not be saved.

    `draft` holds the broadcast's columns that decide who gets what, and `digest` identifies them. `found` counts the
    contacts up to the id `counted_up_to`; the count ends at the id `last_contact`. `walked` of `total` gives the same
    progress as numbers of people. `tries` is how often the next piece was begun. It returns to zero when a piece is
    counted.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    draft = models.JSONField()
    starts_at = models.DateTimeField()
    counted_up_to = models.BigIntegerField()
    last_contact = models.BigIntegerField()
    walked = models.IntegerField()
    total = models.IntegerField()
    found = models.JSONField()
    tries = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    worked_at = models.DateTimeField(default=timezone.now, editable=False)
    completed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "digest"], name="audience_forecast_once_per_draft"),
        ]
        indexes = [
            models.Index(fields=["worked_at"], condition=Q(completed_at=None), name="audience_forecast_unfinished"),
            models.Index(fields=["created_at"], name="audience_forecast_oldest"),
        ]

    def __str__(self) -> str:
        return f"forecast {self.pk} of workspace {self.workspace_id}"

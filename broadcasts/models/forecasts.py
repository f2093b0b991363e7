"""Audiences that are too large to be counted while somebody waits."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from workspaces.subaccounts.models import Workspace


class AudienceForecast(models.Model):
    """What was counted so far of the audience of a broadcast, saved or not, as if it began at `starts_at`.

    `draft` holds the columns of the broadcast that say what goes to whom, and `digest` tells it from others. The
    contacts up to `counted_up_to` are counted into `found`, of those up to `last_contact`; `walked` of `total` is the
    same for people. `tries` says how often the next piece was begun: it is zero again once one was counted.
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

"""The outbox: events, written in the transaction of the change that they report."""

import uuid

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce
from django.db.models.lookups import IsNull

from agency.models.agencies import Agency
from config.db import CurrentTransaction

# The position of an event that is not fanned out yet; null for all others. As an expression it has an index to itself.
# Without one the planner could choose any index of such events: by statistics from a time when none was left to fan
# out, all of them look equally empty.
NEW_AT = Case(When(fanned_out_at=None, then=F("position")))


class Event(models.Model):
    """An event for webhooks. `body` is the envelope exactly as every receiver gets it.

    `fanned_out_at` is empty until all deliveries exist. If there are too many for one batch, `fanned_out_to` is the
    last endpoint that has its delivery. `position` is the transaction that recorded the event, by which new events are
    found.

    `workspace_id` is set if the event is for a workspace and not for its agency. `workspace_uuid` is the workspace that
    the event is for, or the agency's workspace that it is about.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="events")
    workspace_id = models.BigIntegerField(null=True, blank=True)
    workspace_uuid = models.UUIDField(null=True, blank=True)
    name = models.CharField(max_length=60)
    occurred_at = models.DateTimeField()
    body = models.BinaryField()
    fanned_out_at = models.DateTimeField(null=True, blank=True)
    fanned_out_to = models.BigIntegerField(null=True, editable=False)
    position = models.BigIntegerField(db_default=CurrentTransaction(), editable=False)

    class Meta:
        indexes = [
            models.Index(
                F("agency"),
                Coalesce("workspace_id", 0),
                F("position"),
                F("id"),
                condition=Q(fanned_out_at=None),
                name="event_to_fan_out",
            ),
            models.Index(NEW_AT, condition=Q(IsNull(NEW_AT, False)), name="event_new"),
            models.Index(fields=["agency", "-id"], name="event_newest_of_agency"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(workspace_id=None) | Q(workspace_id__gt=0, workspace_uuid__isnull=False),
                name="event_of_a_workspace_has_its_uuid",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.uuid}"

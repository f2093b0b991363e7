"""The activity log: who changed what, and when. Rows are only added.

A trigger refuses all other changes but two: deleting rows whose time is over (`services.retention`), and erasing a
person from rows (`manage.py erase_person`).
"""

from typing import Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast, Length
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone

from agency.models.agencies import Agency

# Most of an agency's entries belong to no workspace; the indexes of a workspace's filters leave them out.
OF_A_WORKSPACE: Final = Q(workspace_uuid__isnull=False)
# Changes in a workspace that its own people and keys did not make; few entries among many.
BY_THE_AGENCY: Final = Q(of_workspace=False, actor_kind__in=("user", "agency_key", "staff"))
# Characters of the JSON: the most fields and values that are recorded, with room for escapes and an erasure's marks.
LARGEST_CHANGES = 100_000


class ActivityEntry(models.Model):
    """One change, written in the change's transaction. `agency` is empty for fleet-wide changes.

    `acting_for` names the customer as whom an agency's person acted. `of_workspace` says that the actor was one of the
    workspace's own people at that time. `changes` is `{field: [before, after]}`, with `null` for a field whose values
    are not kept (`services.activity.fields`).
    """

    agency = models.ForeignKey(Agency, null=True, on_delete=models.PROTECT, db_index=False, related_name="activity")
    workspace_uuid = models.UUIDField(null=True)
    at = models.DateTimeField(default=timezone.now)
    actor_kind = models.CharField(max_length=20)
    actor_id = models.CharField(max_length=64)
    actor_label = models.CharField(max_length=254)
    acting_for = models.CharField(max_length=120, blank=True, db_default="")
    of_workspace = models.BooleanField(default=False, db_default=False)
    action = models.CharField(max_length=60)
    target_kind = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    target_name = models.CharField(max_length=2048)
    address = models.CharField(max_length=45, blank=True)
    request_id = models.CharField(max_length=128, blank=True)
    details = models.JSONField(default=dict)
    changes = models.JSONField(default=dict, db_default={})

    class Meta:
        verbose_name_plural = "activity entries"
        constraints = [
            models.CheckConstraint(
                condition=LessThanOrEqual(Length(Cast("changes", models.TextField())), LARGEST_CHANGES),
                name="activity_changes_are_small",
            )
        ]
        indexes = [
            models.Index(fields=["agency", "-id"], name="activity_of_agency"),
            models.Index(fields=["agency", "action", "-id"], name="activity_by_action"),
            models.Index(fields=["agency", "actor_kind", "-id"], name="activity_by_door"),
            models.Index(fields=["agency", "actor_label", "-id"], name="activity_by_person"),
            models.Index(fields=["agency", "target_id", "-id"], name="activity_by_object"),
            models.Index(fields=["agency", "at"], name="activity_by_day"),
            models.Index(fields=["workspace_uuid", "-id"], name="activity_of_workspace"),
            *(
                models.Index(fields=["workspace_uuid", *fields], condition=OF_A_WORKSPACE, name=name)
                for fields, name in (
                    (["action", "-id"], "workspace_activity_by_action"),
                    (["actor_kind", "-id"], "workspace_activity_by_door"),
                    (["actor_label", "-id"], "workspace_activity_by_person"),
                    (["target_id", "-id"], "workspace_activity_by_object"),
                    (["at"], "workspace_activity_by_day"),
                )
            ),
            models.Index(
                fields=["workspace_uuid", "-id"], condition=BY_THE_AGENCY, name="workspace_activity_by_agency"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor_label}: {self.action} {self.target_name}"

"""Rows that changes and pages leave behind: activity, events, hourly counts, saved views and sent forms.

Rows of the activity log are only added. A trigger refuses all other changes but two: deleting rows whose time is over
(`services.retention`), and erasing a person from rows (`manage.py erase_person`).
"""

import uuid
from typing import Final

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Cast, Coalesce, Length
from django.db.models.lookups import IsNull, LessThanOrEqual
from django.utils import timezone

from agency.models.agencies import Agency
from config.db import LONGEST_NAME_KEY, CurrentTransaction

# Most of an agency's entries belong to no workspace; the indexes of a workspace's filters leave them out.
HAS_WORKSPACE: Final = Q(workspace_uuid__isnull=False)
# Changes in a workspace that its own people and keys did not make; few entries among many.
BY_AGENCY_OR_SUPPORT: Final = Q(of_workspace=False, actor_kind__in=("user", "agency_key", "staff"))
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
                models.Index(fields=["workspace_uuid", *fields], condition=HAS_WORKSPACE, name=name)
                for fields, name in (
                    (["action", "-id"], "workspace_activity_by_action"),
                    (["actor_kind", "-id"], "workspace_activity_by_door"),
                    (["actor_label", "-id"], "workspace_activity_by_person"),
                    (["target_id", "-id"], "workspace_activity_by_object"),
                    (["at"], "workspace_activity_by_day"),
                )
            ),
            models.Index(
                fields=["workspace_uuid", "-id"], condition=BY_AGENCY_OR_SUPPORT, name="workspace_activity_by_agency"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor_label}: {self.action} {self.target_name}"


# The position of an event that is not fanned out yet; null for all others. As an expression it has an index to itself.
# Without one the planner could choose any index of such events: by statistics from a time when none was left to fan
# out, all of them look equally empty.
UNDISPATCHED_POSITION = Case(When(fanned_out_at=None, then=F("position")))


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
            models.Index(UNDISPATCHED_POSITION, condition=Q(IsNull(UNDISPATCHED_POSITION, False)), name="event_new"),
            models.Index(fields=["agency", "-id"], name="event_newest_of_agency"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(workspace_id=None) | Q(workspace_id__gt=0, workspace_uuid__isnull=False),
                name="event_of_a_workspace_has_its_uuid",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.uuid}"


class HourlyCount(models.Model):
    """The number of a counter `name` (`agency.services.hourly_counts`) in an hour; zero has no row."""

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, db_index=False, related_name="hourly_counts")
    name = models.CharField(max_length=40)
    hour = models.DateTimeField()
    number = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agency", "name", "hour"], name="hourly_count_once"),
            models.CheckConstraint(condition=models.Q(number__gte=0), name="hourly_count_is_not_negative"),
        ]
        indexes = [models.Index(fields=["hour"], name="hourly_count_by_age")]

    def __str__(self) -> str:
        return f"{self.number} {self.name} at {self.hour}"


class CounterState(models.Model):
    """How far a counter has come: hours before `counted_until` are counted.

    `positions` are the counted table's newest ids at the last runs that left no hour uncounted, the newest run first.
    Such runs are at least an hour apart. So the rows of the hours since the last run have larger ids than the second
    position, those of the hour before it larger ids than the third.
    """

    name = models.CharField(max_length=40, primary_key=True)
    counted_until = models.DateTimeField()
    positions = ArrayField(models.BigIntegerField(), default=list)

    def __str__(self) -> str:
        return f"{self.name} until {self.counted_until}"


class SavedView(models.Model):
    """A person's view of one list (`page`, its URL name) of one agency or workspace (`area`, its id).

    `query` is the list's query string, as the page writes it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="saved_views"
    )
    area = models.UUIDField()
    page = models.CharField(max_length=100)
    name = models.CharField(max_length=60)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY)
    query = models.CharField(max_length=2000)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "area", "page", "name_key"], name="saved_view_name_once_per_list"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="saved_view_has_a_name"),
            models.CheckConstraint(condition=~Q(query=""), name="saved_view_asks_for_something"),
        ]

    def __str__(self) -> str:
        return self.name


class SentForm(models.Model):
    """A sent form, written in the transaction of what it creates; its sender was redirected to the address `landing`.

    The nonce is unique for each user. A second submit waits for the first, then redirects to the same address.
    """

    nonce = models.CharField(max_length=32)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    landing = models.CharField(max_length=500, blank=True)
    sent_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "nonce"], name="form_sent_once")]

    def __str__(self) -> str:
        return f"form of {self.user}"

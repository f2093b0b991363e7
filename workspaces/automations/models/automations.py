"""A workspace's automations: drafts, published versions, and the requirements that the workspace meets."""

import uuid
from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.limits import CHANNEL_TYPES
from agency.models import Agency
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.subaccounts.models.workspaces import Workspace


class AutomationQuerySet(models.QuerySet["Automation"]):
    def of_agency(self, agency: Agency) -> Self:
        """Keep the automations of one agency's sub-accounts."""
        return self.filter(workspace__agency=agency)

    def published(self) -> Self:
        return self.filter(published__isnull=False)


AllAutomations = models.Manager.from_queryset(AutomationQuerySet)


class CurrentAutomations(AllAutomations["Automation"]):
    """Leaves out removed automations, whose rows still have to be deleted."""

    def get_queryset(self) -> AutomationQuerySet:
        return AutomationQuerySet(self.model, using=self._db).filter(removed_at=None)


class Automation(models.Model):
    """A flow bound to one channel type.

    `draft` is the flow that people edit, `published` the frozen version that runs. `requires` names the requirements
    that the workspace must meet before the automation can be switched on. `slots` are the values that an installed copy
    asks of the customer, as `{node, path, label, step}`.

    `from_pack` and `from_entry` are the uuids of the pack and entry that it was installed from. `from_pack_name` is the
    pack's name at that time, because the pack may be deleted later. `from_original` is the library's id of the
    installed automation, or a digest of the copy. Copies of one original from two packs have the same `from_original`.

    `trigger_digest` and `catch_all` describe the published version's trigger. Of two automations that would answer the
    same on one channel type, only one may be on: both come from one original and have the same trigger, or both have
    the same catch-all trigger.

    `reentry` says whether a contact who has been through may start it again: always, once, or only `reentry_days` after
    the last start. `stops_on_reply` ends waits for a moment when the contact writes. `stops_on_booking` ends the
    contact's run when the contact books an appointment elsewhere.

    A removed automation has `removed_at` until all its rows are deleted. Only `with_removed` finds it.
    """

    class Reentry(models.TextChoices):
        ALWAYS = "always", _("Every time")
        ONCE = "once", _("Once for each contact")
        AFTER = "after", _("Again after some days")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="automations", db_index=False)
    name = models.CharField(max_length=120)
    platform = models.CharField(max_length=20, choices=[(kind, kind) for kind in CHANNEL_TYPES])
    trigger = models.CharField(max_length=40)
    draft = models.JSONField()
    published = models.ForeignKey(
        "AutomationVersion", null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    enabled = models.BooleanField(default=False)
    requires = ArrayField(models.CharField(max_length=20), default=list)
    slots = models.JSONField(default=list)
    from_pack = models.UUIDField(null=True, blank=True)
    from_entry = models.UUIDField(null=True, blank=True)
    from_pack_name = models.CharField(max_length=120, blank=True)
    from_original = models.CharField(max_length=80, blank=True)
    trigger_digest = models.CharField(max_length=64, blank=True)
    catch_all = models.BooleanField(default=False)
    reentry = models.CharField(max_length=10, choices=Reentry, default=Reentry.ALWAYS, db_default="always")
    reentry_days = models.PositiveSmallIntegerField(default=0, db_default=0)
    stops_on_reply = models.BooleanField(default=False, db_default=False)
    stops_on_booking = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    removed_at = models.DateTimeField(null=True, editable=False)

    # The first manager is also that of `workspace.automations`.
    objects = CurrentAutomations()
    with_removed = AllAutomations()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(platform__in=CHANNEL_TYPES), name="automation_platform_is_known"),
            models.CheckConstraint(condition=~Q(name=""), name="automation_has_a_name"),
            models.CheckConstraint(
                condition=Q(enabled=False) | Q(published__isnull=False), name="automation_runs_a_published_version"
            ),
            models.CheckConstraint(
                condition=Q(from_pack=None, from_entry=None) | Q(from_pack__isnull=False, from_entry__isnull=False),
                name="automation_origin_is_whole",
            ),
            models.UniqueConstraint(
                fields=["workspace", "from_entry"],
                condition=Q(from_entry__isnull=False),
                name="automation_installed_once",
            ),
            models.UniqueConstraint(
                fields=["workspace", "platform", "from_original", "trigger_digest"],
                condition=Q(enabled=True) & ~Q(from_original=""),
                name="automation_original_on_once",
            ),
            models.UniqueConstraint(
                fields=["workspace", "platform", "trigger_digest"],
                condition=Q(enabled=True, catch_all=True),
                name="automation_catch_all_on_once",
            ),
            models.CheckConstraint(
                condition=Q(removed_at=None) | Q(enabled=False, published=None, from_entry=None),
                name="automation_removed_does_nothing",
            ),
            models.CheckConstraint(
                condition=(Q(reentry="after") & Q(reentry_days__gte=1)) | (~Q(reentry="after") & Q(reentry_days=0)),
                name="automation_reentry_days_fit",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="automation_newest"),
            models.Index(
                fields=["from_pack", "workspace"], condition=Q(from_pack__isnull=False), name="automation_of_pack"
            ),
            models.Index(fields=["workspace", "platform"], condition=Q(enabled=True), name="automation_enabled"),
            models.Index(fields=["removed_at"], condition=Q(removed_at__isnull=False), name="automation_removed"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def trigger_label(self) -> str:
        """The label of the trigger for people, or the trigger's name if its type is unknown."""
        trigger = TRIGGERS.get(self.trigger)
        return trigger.label if trigger else self.trigger

    @property
    def published_version(self) -> int | None:
        return self.published.number if self.published else None

    @property
    def published_at(self) -> datetime | None:
        return self.published.published_at if self.published else None

    @property
    def labelled_steps(self) -> list[dict[str, str]]:
        """`{id, type, label}` of each step of the published flow, or of the draft if nothing is published."""
        flow = self.published.flow if self.published else self.draft
        return [
            {
                "id": step["id"],
                "type": step["type"],
                "label": STEPS[step["type"]].label if step["type"] in STEPS else step["type"],
            }
            for step in flow["steps"]
        ]


class AutomationVersion(models.Model):
    """A published flow. A database trigger refuses to change it."""

    automation = models.ForeignKey(Automation, on_delete=models.CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    flow = models.JSONField()
    published_at = models.DateTimeField(default=timezone.now)
    published_by = models.CharField(max_length=254, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["automation", "number"], name="automation_version_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="automation_version_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.automation} v{self.number}"


class DraftRevision(models.Model):
    """A state of an automation's draft, to which people can go back. `action` is the change that led to it.

    `is_current` marks the one that the draft equals. Newer ones are changes that were undone. The first one is the
    draft before its first change.
    """

    automation = models.ForeignKey(Automation, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    flow = models.JSONField()
    action = models.CharField(max_length=40, blank=True)
    is_current = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=254, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["automation"], condition=Q(is_current=True), name="automation_has_one_current_draft"
            )
        ]
        indexes = [models.Index(fields=["automation", "id"], name="draft_revision_in_order")]

    def __str__(self) -> str:
        return f"revision {self.pk} of {self.automation}"

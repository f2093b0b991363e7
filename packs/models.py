"""Packs: automations that an agency offers its customers together, and the starter packs of workspaces."""

import uuid
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Deferrable, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agency.models import Agency
from packs.library.loading import Industry
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType


class PackSettings(models.Model):
    """An agency's settings of packs. A change of the packs' order locks this row."""

    agency = models.OneToOneField(Agency, primary_key=True, on_delete=models.CASCADE, related_name="pack_settings")
    replace_platform = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "pack settings"

    def __str__(self) -> str:
        return f"pack settings of {self.agency}"


class PackQuerySet(models.QuerySet["Pack"]):
    def of(self, agency: Agency | int) -> Self:
        """Keep the packs of one agency. Every view's query starts here."""
        return self.filter(agency=agency)

    def published(self) -> Self:
        return self.filter(status=Pack.Status.PUBLISHED)

    def in_gallery_order(self) -> Self:
        return self.order_by("position", "id")


class Pack(models.Model):
    """A pack. `position` is its place in the gallery, counted over all packs of the agency."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")
        ARCHIVED = "archived", _("Archived")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="packs", db_index=False)
    name = models.CharField(max_length=120)
    summary = models.CharField(max_length=300, null=True, blank=True)
    industry = models.CharField(max_length=20, choices=Industry, null=True, blank=True)
    business_type = models.CharField(max_length=30, choices=BusinessType, null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    position = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = PackQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agency", "position"], deferrable=Deferrable.DEFERRED, name="pack_position_once_per_agency"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="pack_has_a_name"),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "published", "archived"]), name="pack_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(industry=None) | Q(industry__in=Industry.values), name="pack_industry_is_known"
            ),
            models.CheckConstraint(
                condition=Q(business_type=None) | Q(business_type__in=BusinessType.values),
                name="pack_business_type_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


MOST_ENTRIES = 9


class PackEntry(models.Model):
    """An automation in a pack. `name` and `description` are the original's, kept after the library retires it.

    `name_key` is the name that customers see, in the form used for comparison. Only copies have a `flow`, its
    `flow_digest` and `slots`; the flow of a library entry is in the library.
    """

    class Source(models.TextChoices):
        LIBRARY = "library", _("Library")
        CUSTOM = "custom", pgettext_lazy("automation in a pack", "Copy")

    class Tier(models.TextChoices):
        CORE = "core", _("Core")
        OPTIONAL = "optional", _("Optional")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    pack = models.ForeignKey(Pack, on_delete=models.CASCADE, related_name="entries", db_index=False)
    position = models.PositiveSmallIntegerField()
    source = models.CharField(max_length=10, choices=Source)
    template_id = models.CharField(max_length=80, null=True, blank=True)
    name = models.CharField(max_length=120)
    name_override = models.CharField(max_length=120, null=True, blank=True)
    name_key = models.CharField(max_length=480, editable=False)
    description = models.CharField(max_length=500, blank=True)
    description_override = models.CharField(max_length=500, null=True, blank=True)
    tier = models.CharField(max_length=10, choices=Tier, default=Tier.CORE)
    requires = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    ai = models.BooleanField(default=False)
    catch_all = models.BooleanField(default=False)
    trigger_label = models.CharField(max_length=120)
    channels = ArrayField(models.CharField(max_length=20))
    flow = models.JSONField(null=True, blank=True)
    flow_digest = models.CharField(max_length=64, blank=True, editable=False)
    slots = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "pack entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(position__gte=1, position__lte=MOST_ENTRIES), name="pack_holds_nine_entries"
            ),
            models.UniqueConstraint(
                fields=["pack", "position"], deferrable=Deferrable.DEFERRED, name="pack_entry_position_once"
            ),
            models.UniqueConstraint(fields=["pack", "name_key"], name="pack_entry_name_once"),
            models.UniqueConstraint(
                fields=["pack", "template_id"],
                condition=Q(template_id__isnull=False),
                name="pack_entry_library_item_once",
            ),
            models.UniqueConstraint(fields=["pack"], condition=Q(catch_all=True), name="pack_holds_one_catch_all"),
            models.CheckConstraint(
                condition=Q(source="library", template_id__isnull=False, flow=None, flow_digest="")
                | (Q(source="custom", template_id=None, flow__isnull=False) & ~Q(flow_digest="")),
                name="pack_entry_source_is_whole",
            ),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="pack_entry_has_a_name"),
            models.CheckConstraint(condition=Q(tier__in=["core", "optional"]), name="pack_entry_tier_is_known"),
        ]

    def __str__(self) -> str:
        return self.name_override or self.name


class InstalledFlow(models.Model):
    """The version of a pack's flow that a workspace's automation comes from, to which a newer version is compared.

    `declined_digest` is the newer version that the workspace does not want. A later one is offered again.
    """

    automation = models.OneToOneField(
        Automation, primary_key=True, on_delete=models.CASCADE, related_name="installed_flow"
    )
    flow = models.JSONField()
    digest = models.CharField(max_length=64)
    declined_digest = models.CharField(max_length=64, blank=True)
    taken_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(digest=""), name="installed_flow_has_a_digest")]

    def __str__(self) -> str:
        return f"installed flow of {self.automation}"


class StarterPack(models.Model):
    """Written when the first messaging channel is connected. `pack` is None if no pack could be given."""

    workspace = models.OneToOneField(Workspace, primary_key=True, on_delete=models.CASCADE, related_name="starter_pack")
    pack = models.UUIDField(null=True, blank=True)
    given_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"starter pack of {self.workspace}"

"""An automation in a pack, from the library or copied out of a sub-account."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Deferrable, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from packs.models.packs import Pack

MOST_ENTRIES = 9


class PackEntry(models.Model):
    """An automation in a pack. `name` and `description` are the original's, kept after the library retires it.

    `name_key` is the name that customers see, in the form used for comparison. Only copies have a `flow` and `slots`;
    the flow of a library entry is in the library.
    """

    class Source(models.TextChoices):
        LIBRARY = "library", _("Library")
        CUSTOM = "custom", _("Copy")

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
                condition=Q(source="library", template_id__isnull=False, flow=None)
                | Q(source="custom", template_id=None, flow__isnull=False),
                name="pack_entry_source_is_whole",
            ),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="pack_entry_has_a_name"),
            models.CheckConstraint(condition=Q(tier__in=["core", "optional"]), name="pack_entry_tier_is_known"),
        ]

    def __str__(self) -> str:
        return self.name_override or self.name

"""Packs: automations that an agency offers its customers together."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Deferrable, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from packs.library.industries import Industry
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

    objects: ClassVar[PackQuerySet] = PackQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

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

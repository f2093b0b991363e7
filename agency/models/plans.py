"""What an agency sells: base plans, and add-ons on top of them."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agency.models.agencies import Agency


class CatalogueItem(models.Model):
    """A plan or an add-on; `limits` has the form that `agency.limits` describes.

    Archived items can no longer be assigned.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120)
    name_key = models.CharField(max_length=480, editable=False)
    description = models.CharField(max_length=500, blank=True)
    limits = models.JSONField()
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Plan(CatalogueItem):
    """A base plan; a sub-account has one or none. New sub-accounts get the default plan if none is named."""

    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="plans")
    is_default = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agency"], condition=Q(is_default=True), name="plan_one_default_per_agency"
            ),
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(archived_at=None), name="plan_default_is_not_archived"
            ),
            models.UniqueConstraint(
                fields=["agency", "name_key"], condition=Q(archived_at=None), name="plan_name_once_per_agency"
            ),
        ]


class Addon(CatalogueItem):
    """An add-on; a sub-account may hold any number of add-ons, each once."""

    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="addons")

    class Meta:
        verbose_name = "add-on"
        constraints = [
            models.UniqueConstraint(
                fields=["agency", "name_key"], condition=Q(archived_at=None), name="addon_name_once_per_agency"
            ),
        ]

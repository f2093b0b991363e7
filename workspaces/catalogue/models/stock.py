"""The stock ledger: append-only rows whose sum is a product's stock level."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from workspaces.catalogue.models.products import Product

LONGEST_ACTOR = 254


class StockMovement(models.Model):
    """A change of a product's stock level. A trigger requires that `before` is the level, and sets it to `after`."""

    class Reason(models.TextChoices):
        SET = "set", _("Level set")
        RECEIVED = "received", _("Goods received")
        SOLD = "sold", _("Sold")
        RETURNED = "returned", _("Returned by a customer")
        LOST = "lost", _("Lost or damaged")
        CORRECTED = "corrected", _("Counted anew")
        TRACKING_ENDED = "tracking_ended", _("No longer tracked")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="stock_movements", db_index=False)
    before = models.IntegerField()
    change = models.IntegerField()
    after = models.IntegerField()
    reason = models.CharField(max_length=20, choices=Reason)
    actor_kind = models.CharField(max_length=20)
    actor_label = models.CharField(max_length=LONGEST_ACTOR)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(after=F("before") + F("change")), name="stock_movement_adds_up"),
            models.CheckConstraint(condition=~Q(change=0), name="stock_movement_changes_something"),
            models.CheckConstraint(condition=Q(before__gte=0, after__gte=0), name="stock_movement_is_not_below_zero"),
        ]
        indexes = [models.Index(fields=["product", "-id"], name="stock_movement_newest")]

    def __str__(self) -> str:
        return f"{self.change:+d} of {self.product}"

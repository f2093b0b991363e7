"""The products that a workspace sells, with their stock levels."""

import uuid
from typing import ClassVar, Self
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from config.db import like_pattern, name_key
from workspaces.catalogue.models.services import (
    LONGEST_NAME,
    LONGEST_NAME_KEY,
    PRICE_DECIMALS,
    PRICE_DIGITS,
    ServiceCategory,
)
from workspaces.subaccounts.models import Workspace

LONGEST_DESCRIPTION = 2_000
MOST_STOCK = 1_000_000_000


class ProductQuerySet(models.QuerySet["Product"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the products of one workspace that are not deleted. Every query of a view begins here."""
        return self.filter(workspace=workspace, deleted_at=None)

    def matching(self, fragment: str) -> Self:
        """Keep the products whose name contains the fragment, in any case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Product(models.Model):
    """A product. `stock_level` is the sum of its stock movements; triggers keep anything else from writing it.

    The row of a deleted product stays, because its movements refer to it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="products", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    description = models.CharField(max_length=LONGEST_DESCRIPTION, blank=True)
    price = models.DecimalField(max_digits=PRICE_DIGITS, decimal_places=PRICE_DECIMALS)
    track_stock = models.BooleanField(default=False)
    stock_level = models.IntegerField(default=0, editable=False)
    active = models.BooleanField(default=True)
    category = models.ForeignKey(
        ServiceCategory, null=True, blank=True, on_delete=models.PROTECT, related_name="products", db_index=False
    )
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[ProductQuerySet] = ProductQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="product_has_a_name"),
            models.CheckConstraint(condition=Q(price__gte=0), name="product_price_is_not_negative"),
            models.CheckConstraint(
                condition=Q(stock_level__range=(0, MOST_STOCK)), name="product_stock_is_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(track_stock=True) | Q(stock_level=0), name="product_untracked_has_no_stock"
            ),
            models.CheckConstraint(
                condition=Q(deleted_at=None) | Q(category=None), name="product_deleted_has_no_category"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "name_key", "id"], condition=Q(deleted_at=None), name="product_by_name"),
            models.Index(
                fields=["workspace", "-created_at", "-id"], condition=Q(deleted_at=None), name="product_newest"
            ),
            models.Index(
                fields=["category", "-created_at", "-id"],
                condition=Q(category__isnull=False),
                name="product_of_category",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def category_uuid(self) -> UUID | None:
        return self.category.uuid if self.category else None

    @property
    def stock_quantity(self) -> int | None:
        """The stock level if the stock is tracked, else None."""
        return self.stock_level if self.track_stock else None

    @property
    def is_out_of_stock(self) -> bool:
        return self.track_stock and self.stock_level == 0

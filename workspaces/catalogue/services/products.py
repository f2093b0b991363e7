"""Changes of products and of their stock. Each change is one event, and stock changes only through its ledger."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import from_differences
from config.db import name_key
from config.errors import Conflict, InvalidInput, NotFound
from workspaces.catalogue import events
from workspaces.catalogue.models import LONGEST_ACTOR, MOST_STOCK, Product, ServiceCategory, StockMovement
from workspaces.catalogue.services.services import check_price, record_catalogue_activity, share_lock_category
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event

Changes = dict[str, dict[str, object]]


def product_snapshot(product: Product) -> dict[str, object]:
    """Give the fields of a product that can change, as JSON types, as the API reads them."""
    return {
        "name": product.name,
        "description": product.description or None,
        "price": float(product.price),
        "track_stock": product.track_stock,
        "stock_quantity": product.stock_quantity,
        "active": product.active,
        "category_id": str(product.category_uuid) if product.category else None,
    }


def record_product_change(*, product: Product, before: Mapping[str, object], now: datetime) -> Changes:
    """Record one event for all changes of a product, and one if it went out of stock. Gives the changes."""
    changes = differences(before, product_snapshot(product))
    if changes:
        record_workspace_event(
            workspace=product.workspace, name=events.PRODUCT_UPDATED, now=now, product=product, changes=changes
        )
    if before["stock_quantity"] and product.is_out_of_stock:
        record_workspace_event(workspace=product.workspace, name=events.PRODUCT_OUT_OF_STOCK, now=now, product=product)
    return changes


# A product's stock level changes only through its ledger.

Reason = StockMovement.Reason
# The reasons for a change by an amount. The other reasons follow from changes of the product.
CHANGE_REASONS = (Reason.RECEIVED, Reason.SOLD, Reason.RETURNED, Reason.LOST, Reason.CORRECTED)


class ProductNotFound(NotFound):
    message = "Product not found."


class StockNotTracked(InvalidInput):
    field = "stock_quantity"
    message = "The stock of this product is not tracked."


class StockOutOfRange(InvalidInput):
    field = "stock_quantity"
    message = f"The stock of a product may be at most {MOST_STOCK:,}."


class ZeroStockChange(InvalidInput):
    field = "stock_quantity"
    message = "A change of stock must not be 0."


class NotEnoughStock(Conflict):
    """The stock is smaller than the requested quantity."""

    def __init__(self, left: int) -> None:
        super().__init__(f"Only {left:,} of this product are left.")


def lock_product(product: Product) -> Product:
    """Lock the row and read it anew. Raises `ProductNotFound` if the product was deleted."""
    found = Product.objects.select_for_update(no_key=True).filter(pk=product.pk, deleted_at=None).first()
    if found is None:
        raise ProductNotFound
    found.workspace = product.workspace
    return found


def move_stock(*, product: Product, to: int, reason: str, now: datetime, by: Actor) -> StockMovement | None:
    """Write a movement to the level `to`; None if that is the level already. Caller holds the product's lock."""
    before = product.stock_level
    if to == before:
        return None
    movement = StockMovement.objects.create(
        product=product,
        before=before,
        change=to - before,
        after=to,
        reason=reason,
        actor_kind=by.kind,
        actor_label=by.label[:LONGEST_ACTOR],
        created_at=now,
    )
    product.stock_level = to
    return movement


@transaction.atomic
def change_stock(
    *, product: Product, by_quantity: int, reason: str, now: datetime, by: Actor
) -> tuple[Product, StockMovement]:
    """Add `by_quantity` to the stock, or take from it with a negative number.

    Raises `NotEnoughStock`, `ZeroStockChange`, `ProductNotFound`, `StockNotTracked`, `StockOutOfRange`.
    """
    product = lock_product(product)
    if not product.track_stock:
        raise StockNotTracked
    before, to = product_snapshot(product), product.stock_level + by_quantity
    if to < 0:
        raise NotEnoughStock(product.stock_level)
    if to > MOST_STOCK:
        raise StockOutOfRange
    movement = move_stock(product=product, to=to, reason=reason, now=now, by=by)
    if movement is None:
        raise ZeroStockChange
    product.updated_at = now
    product.save(update_fields=["updated_at"])
    record_product_change(product=product, before=before, now=now)
    return product, movement


class ProductOptions(TypedDict, total=False):
    """The optional fields of a new product."""

    description: str
    track_stock: bool
    stock_quantity: int | None
    active: bool
    category: ServiceCategory | None


class ProductChanges(ProductOptions, total=False):
    """The fields of a product that can change. Fields left out stay, and so does the stock if its quantity is None."""

    name: str
    price: Decimal


@transaction.atomic
def create_product(
    *, workspace: Workspace, name: str, price: Decimal, now: datetime, by: Actor, **more: Unpack[ProductOptions]
) -> Product:
    """Add a product. Raises `PriceRefused`, `ServiceCategoryNotFound`, `StockNotTracked`."""
    check_price(price, workspace)
    product = Product(workspace=workspace, name=name.strip(), price=price, created_at=now, updated_at=now)
    quantity = _take_quantity(product, more)
    share_lock_category(more.get("category"))
    for field, value in more.items():
        setattr(product, field, value)
    product.name_key = name_key(product.name)
    product.save()
    if quantity is not None:
        move_stock(product=product, to=quantity, reason=Reason.SET, now=now, by=by)
    record_catalogue_activity(workspace=workspace, entry=product, what="created", by=by)
    record_workspace_event(workspace=workspace, name=events.PRODUCT_CREATED, now=now, product=product)
    return product


@transaction.atomic
def change_product(*, product: Product, now: datetime, by: Actor, **changes: Unpack[ProductChanges]) -> Product:
    """Change a product. A call without a difference records nothing.

    Raises `PriceRefused`, `ProductNotFound`, `ServiceCategoryNotFound`, `StockNotTracked`.
    """
    product = lock_product(product)
    before = product_snapshot(product)
    quantity = _take_quantity(product, changes)
    share_lock_category(changes.get("category"))
    if "name" in changes:
        changes["name"] = changes["name"].strip()
    changed = {field: value for field, value in {**changes}.items() if getattr(product, field) != value}
    check_price(changes.get("price") if "price" in changed else None, product.workspace)
    if not changed and quantity in (None, product.stock_level):
        return product
    if changed.get("track_stock") is False:
        move_stock(product=product, to=0, reason=Reason.TRACKING_ENDED, now=now, by=by)
    _save_fields(product, changed, now)
    if quantity is not None:
        move_stock(product=product, to=quantity, reason=Reason.SET, now=now, by=by)
    made = record_product_change(product=product, before=before, now=now)
    record_catalogue_activity(
        workspace=product.workspace, entry=product, what="changed", by=by, changes=from_differences(made)
    )
    return product


@transaction.atomic
def delete_product(*, product: Product, now: datetime, by: Actor) -> None:
    """Delete a product from the catalogue. Its stock movements are kept. Raises `ProductNotFound`."""
    product = lock_product(product)
    record_workspace_event(workspace=product.workspace, name=events.PRODUCT_DELETED, now=now, product=product)
    record_catalogue_activity(workspace=product.workspace, entry=product, what="deleted", by=by)
    product.category, product.deleted_at = None, now
    product.save(update_fields=["category", "deleted_at"])


def _take_quantity(product: Product, changes: ProductOptions) -> int | None:
    """Remove the quantity from the changes and give it; None if the stock stays. Raises `StockNotTracked`."""
    quantity = changes.pop("stock_quantity", None)
    if quantity is not None and not changes.get("track_stock", product.track_stock):
        raise StockNotTracked
    return quantity


def _save_fields(product: Product, changed: Mapping[str, object], now: datetime) -> None:
    """Save the changed fields. The stock level is not among them, because only the ledger changes it."""
    for field, value in changed.items():
        setattr(product, field, value)
    product.name_key = name_key(product.name)
    product.updated_at = now
    product.save(update_fields=[*changed, "name_key", "updated_at"])

"""Changes of products. Each change is one event, and the stock changes through its ledger."""

from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import from_differences
from config.db import name_key
from workspaces.catalogue import events
from workspaces.catalogue.models import Product, ServiceCategory
from workspaces.catalogue.services.categories import hold_category
from workspaces.catalogue.services.events import as_read, record_product_change
from workspaces.catalogue.services.prices import check_price
from workspaces.catalogue.services.recording import record_catalogue_activity
from workspaces.catalogue.services.stock import Reason, StockNotTracked, lock_product, move_stock
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event


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
    hold_category(more.get("category"))
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
    before = as_read(product)
    quantity = _take_quantity(product, changes)
    hold_category(changes.get("category"))
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


def _save_fields(product: Product, changed: dict[str, Any], now: datetime) -> None:
    """Save the changed fields. The stock level is not among them, because only the ledger changes it."""
    for field, value in changed.items():
        setattr(product, field, value)
    product.name_key = name_key(product.name)
    product.updated_at = now
    product.save(update_fields=[*changed, "name_key", "updated_at"])

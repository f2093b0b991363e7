"""The events of a changed product."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from workspaces.catalogue import events
from workspaces.catalogue.models import Product
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.services import record_workspace_event

Changes = dict[str, dict[str, Any]]


def as_read(product: Product) -> dict[str, Any]:
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


def record_product_change(*, product: Product, before: Mapping[str, Any], now: datetime) -> Changes:
    """Record one event for all changes of a product, and one if it went out of stock. Gives the changes."""
    changes = differences(before, as_read(product))
    if changes:
        record_workspace_event(
            workspace=product.workspace, name=events.PRODUCT_UPDATED, now=now, product=product, changes=changes
        )
    if before["stock_quantity"] and product.is_out_of_stock:
        record_workspace_event(workspace=product.workspace, name=events.PRODUCT_OUT_OF_STOCK, now=now, product=product)
    return changes

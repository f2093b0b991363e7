"""The stock ledger. A product's stock level changes only through it."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from config.errors import Conflict, InvalidInput, NotFound
from workspaces.catalogue.models import Product, StockMovement
from workspaces.catalogue.models.products import MOST_STOCK
from workspaces.catalogue.models.stock import LONGEST_ACTOR
from workspaces.catalogue.services.events import as_read, record_product_change

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


class NothingMoved(InvalidInput):
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

    Raises `NotEnoughStock`, `NothingMoved`, `ProductNotFound`, `StockNotTracked`, `StockOutOfRange`.
    """
    product = lock_product(product)
    if not product.track_stock:
        raise StockNotTracked
    before, to = as_read(product), product.stock_level + by_quantity
    if to < 0:
        raise NotEnoughStock(product.stock_level)
    if to > MOST_STOCK:
        raise StockOutOfRange
    movement = move_stock(product=product, to=to, reason=reason, now=now, by=by)
    if movement is None:
        raise NothingMoved
    product.updated_at = now
    product.save(update_fields=["updated_at"])
    record_product_change(product=product, before=before, now=now)
    return product, movement

"""The number of decimals that a price may have."""

from decimal import Decimal

from config.errors import InvalidInput
from workspaces.catalogue.models.services import PRICE_DECIMALS
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.settings import decimals_of


class PriceRefused(InvalidInput):
    field = "price"


def price_decimals(currency: str) -> int:
    """Give how many decimals a price in a currency may have, at most two."""
    return min(PRICE_DECIMALS, decimals_of(currency))


def check_price(price: Decimal | None, workspace: Workspace) -> None:
    """Raise `PriceRefused` for a price with more decimals than the workspace's currency has."""
    if price is None or price == int(price):
        return
    # The workspace of an API key's caller holds only some of its columns.
    currency = Workspace.objects.values_list("currency", flat=True).get(pk=workspace.pk)
    if round(price, price_decimals(currency)) != price:
        raise PriceRefused(f"The price field takes no decimals in {currency}.")

"""The highest cost of a number of messages, by the rates that are valid on a day."""

from collections.abc import Mapping
from datetime import date
from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from broadcasts.models import Rate
from broadcasts.services.costs.markets import names_of
from workspaces.subaccounts.services.settings.currencies import decimals_of


def billing_currency() -> str:
    """The currency in which the provider bills the installation's business accounts."""
    return settings.BILLING_CURRENCY


def category_of(text: str) -> str:
    """Return a category's name in the form that rates and statuses share."""
    return text.strip().lower().replace("_", "-").replace(" ", "-")


def estimate(counts: Mapping[str, int], category: str, currency: str, on: date) -> Decimal | None:
    """Return the highest cost of messages to this many people in each market; None if a market has no rate.

    It assumes that each message is delivered, that none is free, and that no discount for volume applies.
    """
    prices = prices_on(on, category=category, currency=currency)
    total = Decimal(0)
    for market, number in counts.items():
        price = price_of(market, prices)
        if number and price is None:
            return None
        total += (price or 0) * number
    return total.quantize(Decimal(1).scaleb(-decimals_of(currency)), ROUND_CEILING) if prices else None


def prices_on(on: date, *, category: str, currency: str) -> dict[str, Decimal]:
    """Return the price of each market: the newest rate that is valid on a day."""
    valid = Rate.objects.filter(currency=currency, category=category_of(category), valid_from__lte=on)
    newest = valid.order_by("market", "-valid_from").distinct("market")
    return {market.lower(): price for market, price in newest.values_list("market", "price")}


def price_of(market: str, prices: Mapping[str, Decimal]) -> Decimal | None:
    """Return a country's price: its own, or its region's, or that of all others."""
    return next((prices[name.lower()] for name in names_of(market) if name.lower() in prices), None)

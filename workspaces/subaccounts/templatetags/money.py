"""The filters that write amounts of money."""

from decimal import Decimal

from django import template

from config.formats import format_currency
from workspaces.subaccounts.services.money import decimals_of, format_money, format_price

register = template.Library()


@register.filter
def money(minor: int, currency: str) -> str:
    """Write an amount of minor units in the page's language."""
    return format_money(minor, currency)


@register.filter
def price(amount: Decimal, currency: str) -> str:
    """Write the price of a service or product in the page's language."""
    return format_price(amount, currency)


@register.filter
def cost(amount: Decimal, currency: str) -> str:
    """Write what messages cost, rounded: a price list may have more decimals than its currency."""
    return format_currency(amount, currency, decimals_of(currency))

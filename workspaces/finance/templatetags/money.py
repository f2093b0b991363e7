"""The filter that writes amounts of money."""

from decimal import Decimal

from django import template

from workspaces.finance.services.amounts import format_money, format_price

register = template.Library()


@register.filter
def money(minor: int, currency: str) -> str:
    """Write an amount of minor units in the page's language."""
    return format_money(minor, currency)


@register.filter
def price(amount: Decimal, currency: str) -> str:
    """Write the price of a service or product in the page's language."""
    return format_price(amount, currency)

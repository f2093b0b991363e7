"""Filters that write amounts and percentages."""

from decimal import Decimal

from django import template

from workspaces.finance.services.amounts import format_money
from workspaces.finance.services.exports import plain_percent

register = template.Library()


@register.filter
def money(minor: int, currency: str) -> str:
    """Write an amount of minor units in the page's language."""
    return format_money(minor, currency)


@register.filter
def plain(number: Decimal) -> str:
    """Write a quantity or a percentage without needless decimals."""
    return plain_percent(number)

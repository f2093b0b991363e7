"""The filter that writes amounts of money."""

from django import template

from workspaces.finance.services.amounts import format_money

register = template.Library()


@register.filter
def money(minor: int, currency: str) -> str:
    """Write an amount of minor units in the page's language."""
    return format_money(minor, currency)

"""The last hour, day or week as a filter of a list. The address keeps the length, so a saved view stays true."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.pages.tables import Filter

LENGTHS: Final[Mapping[str, timedelta]] = MappingProxyType(
    {"hour": timedelta(hours=1), "day": timedelta(hours=24), "week": timedelta(days=7)}
)
CHOICES: Final = [("hour", _("Last hour")), ("day", _("Last 24 hours")), ("week", _("Last 7 days"))]
PERIOD: Final = Filter(name="period", label=_("Period"), is_choice=True, choices=CHOICES)


def beginning_of(period: str, now: datetime) -> datetime:
    """Return when a period that ends now began. Raises `ValueError` for an unknown period."""
    if period not in LENGTHS:
        raise ValueError(period)
    return now - LENGTHS[period]

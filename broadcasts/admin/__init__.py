"""The support admin's pages for broadcasts and for the rate card."""

from broadcasts.admin.rates import RateAdmin
from broadcasts.admin.records import BroadcastAdmin

__all__ = ["BroadcastAdmin", "RateAdmin"]

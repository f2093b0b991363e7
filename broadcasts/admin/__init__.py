"""The support admin's pages about broadcasts and what they cost."""

from broadcasts.admin.rates import RateAdmin
from broadcasts.admin.records import BroadcastAdmin

__all__ = ["BroadcastAdmin", "RateAdmin"]

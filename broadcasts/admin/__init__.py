"""The support admin's pages about broadcasts."""

from broadcasts.admin.rates import RateAdmin

__all__ = ["RateAdmin"]

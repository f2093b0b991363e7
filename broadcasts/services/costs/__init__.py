"""Costs of broadcasts: the most they cost by the installation's rate card, and what the provider has billed."""

from broadcasts.services.costs.billing import BilledLine, add_billed, billed_lines
from broadcasts.services.costs.importing import RateCardRefused, RowError, import_rates
from broadcasts.services.costs.markets import PREFIX_LENGTH, market_of, markets_of
from broadcasts.services.costs.rates import billing_currency, category_of, estimate

__all__ = [
    "PREFIX_LENGTH",
    "BilledLine",
    "RateCardRefused",
    "RowError",
    "add_billed",
    "billed_lines",
    "billing_currency",
    "category_of",
    "estimate",
    "import_rates",
    "market_of",
    "markets_of",
]

"""The limit of simultaneous calls to providers from pages."""

from agency.pages.views import ConcurrencyLimit

MOST_AT_ONCE = 2
PROVIDER_CALLS = ConcurrencyLimit(MOST_AT_ONCE)

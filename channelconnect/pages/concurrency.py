"""Limits calls to providers."""

from agency.pages.concurrency import ConcurrencyLimit

MOST_AT_ONCE = 2
PROVIDER_CALLS = ConcurrencyLimit(MOST_AT_ONCE)

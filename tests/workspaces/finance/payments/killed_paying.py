"""Calls Stripe until it is killed: for `tests.processes.preloaded`."""

from django.utils.timezone import now

from workspaces.finance.models import Invoice
from workspaces.finance.services.checkouts import start_checkout
from workspaces.finance.services.provider_work import call_providers


def main(work: str) -> None:
    """Start a checkout of the newest invoice, as a click does, or call Stripe for whatever is due, as a worker does."""
    if work == "click":
        start_checkout(invoice=Invoice.objects.latest("id"), now=now())
    else:
        call_providers(seconds=60)

"""A stand-in for Stripe, and a workspace that is connected to it with an invoice to be paid."""

from collections.abc import Iterator

import pytest
from django.test.utils import override_settings

from tests.tenants import Tenant
from tests.workspaces.finance.payments.paying import an_invoice, connected
from tools.sandbox.stripe.server import RunningStripe, open_stripe
from workspaces.finance.models import Invoice, ProviderAccount


@pytest.fixture(scope="session")
def running_stripe() -> Iterator[RunningStripe]:
    """One stand-in for all tests."""
    with open_stripe() as stripe:
        yield stripe


@pytest.fixture
def stripe(running_stripe: RunningStripe) -> Iterator[RunningStripe]:
    """The stand-in, forgetful, with events that wait until a test takes them."""
    running_stripe.control("reset")
    running_stripe.control("hold")
    with override_settings(**running_stripe.variables):
        yield running_stripe


@pytest.fixture
def account(a: Tenant, stripe: RunningStripe) -> ProviderAccount:
    return connected(a.workspace)


@pytest.fixture
def invoice(a: Tenant, account: ProviderAccount) -> Invoice:
    """An open invoice of 119.00."""
    return an_invoice(a)

"""Agencies that may connect channels, and a provider to connect them at."""

from collections.abc import Iterator

import pytest
from django.conf import settings as project
from django.test.utils import override_settings

from tests.channelconnect.agencies import switch_on
from tests.channelconnect.customer import Customer
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox, SandboxConfig, open_sandbox


@pytest.fixture
def connecting(a: Tenant) -> Tenant:
    """The agency of the story, with the feature on and one return URL."""
    return switch_on(a)


@pytest.fixture(scope="session")
def provider() -> Iterator[RunningSandbox]:
    """One sandbox for all walks."""
    address = f"{project.PUBLIC_URL}/connect/callback"
    with open_sandbox(SandboxConfig.read({}, redirect_uris=(address,))) as sandbox:
        yield sandbox


@pytest.fixture
def meta(provider: RunningSandbox) -> Iterator[RunningSandbox]:
    """The sandbox, forgetful, with the product set up to speak to it."""
    provider.reset()
    with override_settings(**provider.variables):
        yield provider


@pytest.fixture
def customer(meta: RunningSandbox) -> Customer:
    return Customer(meta)

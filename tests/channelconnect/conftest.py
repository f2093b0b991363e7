"""Agencies that may connect channels."""

import pytest

from tests.channelconnect.agencies import switch_on
from tests.tenants import Tenant


@pytest.fixture
def connecting(a: Tenant) -> Tenant:
    """The agency of the story, with the feature on and one return URL."""
    return switch_on(a)

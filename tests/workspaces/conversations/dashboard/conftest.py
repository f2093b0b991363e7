"""A workspace with a WhatsApp number, and its owner at the inbox."""

import pytest
from django.test import Client

from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import Channel


@pytest.fixture
def channel(a: Tenant) -> Channel:
    return ChannelFactory.create(workspace=a.workspace)


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)

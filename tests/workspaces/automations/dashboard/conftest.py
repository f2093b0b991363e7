"""A customer with a WhatsApp number and no automation, and their browser."""

import pytest
from django.test import Client

from tests.factories import ChannelFactory, WorkspaceFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    workspace = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=workspace)
    Automation.objects.all().delete()
    return workspace


@pytest.fixture
def owner(customer: Workspace) -> Client:
    return dashboard_client(customer)

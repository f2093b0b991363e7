"""Invoices of other days, in a workspace whose clock is not UTC."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from agency.actors import SYSTEM
from tests.factories.finance import InvoiceFactory
from tests.tenants import Tenant
from workspaces.finance.models import Invoice
from workspaces.finance.services.invoices import issue_invoice
from workspaces.subaccounts.models import Workspace


@pytest.fixture(autouse=True)
def in_berlin(a: Tenant) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Europe/Berlin", currency="EUR")
    a.workspace.refresh_from_db()


def an_invoice_of(workspace: Workspace, then: datetime, *, due_in: timedelta | None = None, **values: Any) -> Invoice:
    """Issue an invoice at another time. Without lines it costs 100.00."""
    due_at = then + due_in if due_in else None
    draft = InvoiceFactory.create(workspace=workspace, now=then, due_at=due_at, **values)
    return issue_invoice(invoice=draft, now=then, by=SYSTEM)

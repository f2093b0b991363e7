"""Numbers have no gap, however many issue at once and whatever fails or is killed meanwhile."""

from collections.abc import Callable

import pytest
from django.db import transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests.factories.finance import InvoiceFactory
from tests.parallel import at_once
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import size
from tests.tenants import Tenant
from workspaces.finance.models import Invoice
from workspaces.finance.services.invoices import issue_invoice

pytestmark = pytest.mark.django_db(transaction=True)
CLIENTS = size("invoice numbers", "issued at once")
KILLED = size("invoice numbers", "issued by killed processes")


class GivenUp(Exception):
    """What fails after the number was taken."""


def numbers() -> list[str]:
    return sorted(str(invoice) for invoice in Invoice.objects.exclude(number=None))


def test_many_who_issue_at_once_leave_no_gap_though_some_fail(a: Tenant) -> None:
    drafts = [InvoiceFactory.create(workspace=a.workspace) for _ in range(CLIENTS)]

    def issue(number: int) -> bool:
        try:
            with transaction.atomic():
                issue_invoice(invoice=drafts[number], now=now(), by=SYSTEM)
                if number % 4 == 0:
                    raise GivenUp
        except GivenUp:
            return False
        return True

    issued = sum(at_once(issue, times=CLIENTS, threads=min(CLIENTS, 12)))
    assert issued == CLIENTS - CLIENTS // 4
    assert numbers() == [f"INV-{number:04}" for number in range(1, issued + 1)]


@pytest.mark.slow
def test_a_process_that_is_killed_anywhere_leaves_no_gap(
    a: Tenant, preloaded: Preloaded, record_property: Callable[[str, object], None]
) -> None:
    for _ in range(KILLED):
        InvoiceFactory.create(workspace=a.workspace)
    kills = int(preloaded.run(Order("tests.workspaces.finance.invoices.killed_issuing")))
    record_property("kills", kills)
    assert kills >= KILLED
    assert numbers() == [f"INV-{number:04}" for number in range(1, KILLED + 1)]
    assert ActivityEntry.objects.filter(action="invoice.issued").count() == KILLED

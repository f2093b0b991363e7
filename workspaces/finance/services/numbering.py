"""Numbers of invoices and credit notes: each series counts without a gap."""

from typing import Final

from django.db import connection, transaction

from agency.actors import Actor
from config.errors import Conflict, InvalidInput
from workspaces.finance.models import Invoice, InvoiceSeries
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

USUAL_PREFIXES: Final = {Invoice.Kind.INVOICE.value: "INV-", Invoice.Kind.CREDIT_NOTE.value: "CN-"}
SHORTEST_DIGITS: Final = 4
LARGEST_FIRST_NUMBER: Final = 10**12
# The row stays locked until the commit, so the numbers of rolled back transactions are given again.
TAKE: Final = """
INSERT INTO finance_invoiceseries AS series (workspace_id, kind, prefix, next_number) VALUES (%s, %s, %s, 2)
ON CONFLICT (workspace_id, kind) DO UPDATE SET next_number = series.next_number + 1
RETURNING prefix, next_number - 1
"""


class SeriesInUse(Conflict):
    message = "Numbers of this series were given already, so its prefix and its next number stay."


class FirstNumberRefused(InvalidInput):
    field = "next_number"
    message = "The first number must be between 1 and 1,000,000,000,000."


def take_number(invoice: Invoice) -> str:
    """Take the next number of an invoice's series. Take it last: others wait for the series until the commit."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [invoice.workspace_id, invoice.kind, USUAL_PREFIXES[invoice.kind]])
        prefix, number = cursor.fetchone()
    return write_number(prefix, number)


def write_number(prefix: str, number: int) -> str:
    """Return a number as it stands on the document, such as `INV-0042`."""
    return f"{prefix}{number:0{SHORTEST_DIGITS}}"


def series_of(workspace: Workspace, kind: str) -> InvoiceSeries:
    """Return a series. Without a row it has the usual prefix and begins at one."""
    found = InvoiceSeries.objects.filter(workspace=workspace, kind=kind).first()
    return found or InvoiceSeries(workspace=workspace, kind=kind, prefix=USUAL_PREFIXES[kind])


def is_in_use(workspace: Workspace, kind: str) -> bool:
    """Return whether a number of the series was given."""
    return Invoice.objects.of(workspace).filter(kind=kind, number__isnull=False).exists()


@transaction.atomic
def change_series(*, workspace: Workspace, kind: str, prefix: str, next_number: int, by: Actor) -> InvoiceSeries:
    """Choose the prefix and the first number of a series. Raises `FirstNumberRefused`, `SeriesInUse`."""
    if not 1 <= next_number <= LARGEST_FIRST_NUMBER:
        raise FirstNumberRefused
    InvoiceSeries.objects.bulk_create([series_of(workspace, kind)], ignore_conflicts=True)
    series = InvoiceSeries.objects.select_for_update(no_key=True).get(workspace=workspace, kind=kind)
    wanted = {"prefix": prefix.strip(), "next_number": next_number}
    changes = {name: (getattr(series, name), value) for name, value in wanted.items()}
    if all(before == after for before, after in changes.values()):
        return series
    if is_in_use(workspace, kind):
        raise SeriesInUse
    series.prefix, series.next_number = prefix.strip(), next_number
    series.save(update_fields=["prefix", "next_number"])
    details = {"kind": kind}
    record_workspace_activity(
        workspace=workspace, action="finance.series_changed", by=by, details=details, changes=changes
    )
    return series

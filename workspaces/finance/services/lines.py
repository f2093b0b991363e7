"""The lines of a draft: what they cost, the taxes of each rate, and the totals, written together."""

from collections.abc import Sequence
from decimal import Decimal

from workspaces.finance.models import Invoice, InvoiceLine, InvoiceTax
from workspaces.finance.services.amounts import MOST_LINES, AmountRefused, Rate, Totals, totals_of

NO_TAX = Rate("", Decimal(0), inclusive=False)


class TooManyLines(AmountRefused):
    message = f"An invoice may have at most {MOST_LINES} lines."


def rate_of(line: InvoiceLine) -> Rate:
    """Return the tax rate that a line has copied."""
    return Rate(line.tax_name, line.tax_percent, line.tax_inclusive)


def totals_of_lines(lines: Sequence[InvoiceLine]) -> Totals:
    """Add up lines. Raises `AmountRefused`."""
    return totals_of((rate_of(line), line.amount) for line in lines)


def write_lines(invoice: Invoice, lines: Sequence[InvoiceLine], totals: Totals) -> None:
    """Replace the lines and taxes of a draft, and set its totals. The caller saves the invoice.

    Raises `TooManyLines`.
    """
    if len(lines) > MOST_LINES:
        raise TooManyLines
    invoice.lines.all().delete()
    invoice.taxes.all().delete()
    for position, line in enumerate(lines, 1):
        line.invoice, line.position = invoice, position
    InvoiceLine.objects.bulk_create(lines)
    InvoiceTax.objects.bulk_create(
        InvoiceTax(
            invoice=invoice,
            name=each.rate.name,
            percent=each.rate.percent,
            inclusive=each.rate.inclusive,
            base=each.base,
            tax=each.tax,
        )
        for each in totals.taxes
    )
    invoice.net, invoice.tax, invoice.total = totals.net, totals.tax, totals.total

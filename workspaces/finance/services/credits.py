"""What a credit note takes from an invoice, so that all credit notes together take exactly what was invoiced."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum
from django.utils import translation
from django.utils.translation import gettext as _

from config.errors import InvalidInput
from workspaces.finance.models import Invoice, InvoiceLine, InvoiceTax
from workspaces.finance.services.amounts import Rate, RateTotal, Totals, rate_of, total_of_rate

COPIED = ("description", "quantity", "unit_price", "amount", "tax_name", "tax_percent", "tax_inclusive")


class CreditRefused(InvalidInput):
    """The lines of a credit note do not fit what is left of the invoice."""

    field = "lines"


@dataclass(frozen=True, slots=True)
class Credit:
    """The lines of a credit note, and what they add up to."""

    lines: list[InvoiceLine]
    totals: Totals


def whole_credit(invoice: Invoice) -> Credit:
    """Take everything that is left: the invoice's own lines, or a line for each rate after other credit notes."""
    left = rest_of(invoice)
    if invoice.credited:
        with translation.override(invoice.language or None):
            text = _("Remainder of invoice %(number)s") % {"number": invoice.number}
        parts = [each for each in left if each.lines]
        return Credit([_line_of(each, text) for each in parts], Totals(tuple(parts)))
    return Credit([_copy_of(line) for line in invoice.lines.order_by("position")], Totals(tuple(left)))


def partial_credit(invoice: Invoice, lines: Sequence[InvoiceLine]) -> Credit:
    """Take what the lines say. The last part of a rate takes its remaining tax. Raises `CreditRefused`."""
    left = {each.rate: each for each in rest_of(invoice)}
    amounts: dict[Rate, int] = {}
    for line in lines:
        rate = rate_of(line)
        amounts[rate] = amounts.get(rate, 0) + line.amount
    parts = tuple(_part(left.get(rate), amounts[rate]) for rate in sorted(amounts))
    totals = Totals(parts)
    if totals.total <= 0:
        raise CreditRefused("A credit note must be more than zero.")
    return Credit(list(lines), totals)


def rest_of(invoice: Invoice) -> list[RateTotal]:
    """Return what credit notes have left of each rate of an invoice."""
    columns = ("name", "percent", "inclusive")
    taken = InvoiceTax.objects.filter(invoice__credits=invoice).values(*columns)
    sums = {
        Rate(each["name"], each["percent"], each["inclusive"]): (each["bases"], each["taxes"])
        for each in taken.annotate(bases=Sum("base"), taxes=Sum("tax")).order_by()
    }
    left = []
    for row in invoice.taxes.order_by("id"):
        rate = Rate(row.name, row.percent, row.inclusive)
        base, tax = sums.get(rate, (0, 0))
        left.append(RateTotal(rate, row.base - int(base), row.tax - int(tax)))
    return left


def _part(left: RateTotal | None, amount: int) -> RateTotal:
    """Compute what an amount takes from what is left of its rate."""
    if left is None:
        raise CreditRefused("A line has a tax rate that the invoice does not have.")
    if amount < 0 or amount > left.lines:
        raise CreditRefused("The lines are more than what is left of the invoice.")
    if amount == left.lines:
        return left
    tax = min(total_of_rate(left.rate, amount).tax, left.tax)
    if not left.rate.inclusive:
        return RateTotal(left.rate, amount, tax)
    base = min(amount - tax, left.base)
    return RateTotal(left.rate, base, amount - base)


def _line_of(left: RateTotal, text: str) -> InvoiceLine:
    return InvoiceLine(
        description=text,
        quantity=Decimal(1),
        unit_price=left.lines,
        amount=left.lines,
        tax_name=left.rate.name,
        tax_percent=left.rate.percent,
        tax_inclusive=left.rate.inclusive,
    )


def _copy_of(line: InvoiceLine) -> InvoiceLine:
    values = {name: getattr(line, name) for name in COPIED}
    return InvoiceLine(**values, tax_rate_id=line.tax_rate_id, product_id=line.product_id)

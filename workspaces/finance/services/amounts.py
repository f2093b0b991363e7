"""Amounts of money: whole minor units, the one way to round, and what lines add up to.

A line is rounded to minor units. The lines of a tax rate are added up, and the tax is computed once for each rate. All
of it is exact arithmetic with whole numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from config.errors import InvalidInput
from workspaces.finance.models import Invoice, InvoiceLine, InvoiceTax
from workspaces.finance.models.invoices import PERCENT_DECIMALS, QUANTITY_DECIMALS
from workspaces.subaccounts.services.money import decimals_of

# 200 lines of this size, and as much tax again, are below 2 ** 53: every total is exact as a JSON number.
LARGEST_LINE: Final = 10**13
MOST_LINES: Final = 200
THOUSANDTHS: Final = 10**QUANTITY_DECIMALS
WHOLE_PERCENT: Final = 100 * 10**PERCENT_DECIMALS


class AmountRefused(InvalidInput):
    """An amount is too large, or has more decimals than its currency."""

    field = "lines"


class CurrencyNotInvoiced(InvalidInput):
    field = "currency"


def exponent_of(currency: str) -> int:
    """Return how many decimals amounts in a currency have. Raises `CurrencyNotInvoiced` if there are three."""
    exponent = decimals_of(currency)
    if exponent > 2:
        raise CurrencyNotInvoiced(f"Invoices in {currency} are not possible: its amounts have three decimals.")
    return exponent


def divide_half_up(numerator: int, denominator: int) -> int:
    """Divide and round to a whole number, halves away from zero. Every amount is rounded here."""
    doubled = (2 * abs(numerator) + denominator) // (2 * denominator)
    return doubled if numerator >= 0 else -doubled


def to_minor(amount: Decimal, exponent: int) -> int:
    """Return an amount in minor units. Raises `AmountRefused` if it has more decimals than the currency."""
    scaled = amount.scaleb(exponent)
    if scaled != scaled.to_integral_value():
        decimals = "no decimals" if exponent == 0 else f"at most {exponent} decimals"
        raise AmountRefused(f"Amounts in this currency have {decimals}.")
    return int(scaled)


def line_amount(quantity: Decimal, unit_price: int) -> int:
    """Return quantity times unit price in minor units. Raises `AmountRefused` if it is too large."""
    amount = divide_half_up(int(quantity * THOUSANDTHS) * unit_price, THOUSANDTHS)
    if abs(amount) > LARGEST_LINE:
        raise AmountRefused("The amount of a line is too large.")
    return amount


@dataclass(frozen=True, slots=True, order=True)
class Rate:
    """A tax rate as an invoice keeps it."""

    name: str
    percent: Decimal
    inclusive: bool


@dataclass(frozen=True, slots=True)
class RateTotal:
    """The net amount and the tax of all lines of one rate."""

    rate: Rate
    base: int
    tax: int

    @property
    def lines(self) -> int:
        """What the lines of the rate add up to: they contain the tax if the rate is inclusive."""
        return self.base + self.tax if self.rate.inclusive else self.base


@dataclass(frozen=True, slots=True)
class Totals:
    """What all lines add up to. `taxes` are in the order of their rates."""

    taxes: tuple[RateTotal, ...]

    @property
    def net(self) -> int:
        return sum(each.base for each in self.taxes)

    @property
    def tax(self) -> int:
        return sum(each.tax for each in self.taxes)

    @property
    def total(self) -> int:
        return self.net + self.tax


def total_of_rate(rate: Rate, amount: int) -> RateTotal:
    """Compute the net amount and the tax of what the lines of one rate add up to."""
    part = int(rate.percent.scaleb(PERCENT_DECIMALS))
    if rate.inclusive:
        base = divide_half_up(amount * WHOLE_PERCENT, WHOLE_PERCENT + part)
        return RateTotal(rate, base, amount - base)
    return RateTotal(rate, amount, divide_half_up(amount * part, WHOLE_PERCENT))


def totals_of(lines: Iterable[tuple[Rate, int]]) -> Totals:
    """Add up lines: pairs of a rate and an amount. Raises `AmountRefused` if a rate's lines are less than zero."""
    sums: dict[Rate, int] = {}
    for rate, amount in lines:
        sums[rate] = sums.get(rate, 0) + amount
    if any(amount < 0 for amount in sums.values()):
        raise AmountRefused("The lines of one tax rate must not add up to less than zero.")
    return Totals(tuple(total_of_rate(rate, sums[rate]) for rate in sorted(sums)))


# Lines ---------------------------------------------------------------------------------------------


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

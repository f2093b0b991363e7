"""Amounts add up whatever the lines are: in any order, with inclusive and exclusive rates."""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from django.template import engines
from hypothesis import given
from hypothesis import strategies as st

from workspaces.finance.services.amounts import (
    LARGEST_LINE,
    AmountRefused,
    CurrencyNotInvoiced,
    Rate,
    divide_half_up,
    exponent_of,
    line_amount,
    to_minor,
    total_of_rate,
    totals_of,
)
from workspaces.subaccounts.services.money import format_money, format_price, from_minor

percents = st.decimals(0, 100, places=3)
rates = st.builds(Rate, st.sampled_from(["", "VAT", "City"]), percents, st.booleans())
amounts = st.integers(0, LARGEST_LINE)


def rounded(value: Decimal) -> int:
    """Round as a book-keeper does: the same rule, by another way."""
    return int(value.quantize(Decimal(1), ROUND_HALF_UP))


@given(st.lists(st.tuples(rates, amounts), max_size=20), st.randoms())
def test_totals_add_up_in_every_order(lines: list[tuple[Rate, int]], order: object) -> None:
    totals = totals_of(lines)
    assert totals.total == totals.net + totals.tax
    for rate in {rate for rate, _ in lines}:
        [part] = [each for each in totals.taxes if each.rate == rate]
        amount = sum(amount for each, amount in lines if each == rate)
        assert part.lines == amount
        assert part.tax == (part.tax if rate.inclusive else rounded(Decimal(amount) * rate.percent / 100))
    shuffled = list(lines)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis names no type for it
    assert totals_of(shuffled) == totals


@given(percents, amounts)
def test_inclusive_and_exclusive_agree(percent: Decimal, net: int) -> None:
    """What a net amount costs with the tax contains that net amount, to the cent."""
    without = total_of_rate(Rate("VAT", percent, inclusive=False), net)
    within = total_of_rate(Rate("VAT", percent, inclusive=True), without.base + without.tax)
    assert within.base + within.tax == without.base + without.tax
    assert abs(within.base - net) <= 1
    assert abs(within.tax - without.tax) <= 1


@given(st.integers(-(10**18), 10**18), st.integers(1, 10**6))
def test_halves_are_rounded_away_from_zero(numerator: int, denominator: int) -> None:
    doubled = divide_half_up(numerator, denominator)
    assert abs(2 * (doubled * denominator - numerator)) <= denominator
    assert divide_half_up(-numerator, denominator) == -doubled
    assert (divide_half_up(5, 2), divide_half_up(-5, 2), divide_half_up(25, 10)) == (3, -3, 3)


@given(st.sampled_from([0, 2]), st.integers(-(10**15), 10**15))
def test_minor_units_come_back(exponent: int, minor: int) -> None:
    assert to_minor(from_minor(minor, exponent), exponent) == minor


def test_what_does_not_fit_is_refused() -> None:
    for amount, exponent in ((Decimal("1.5"), 0), (Decimal("1.005"), 2)):
        with pytest.raises(AmountRefused):
            to_minor(amount, exponent)
    with pytest.raises(AmountRefused):
        line_amount(Decimal(2), LARGEST_LINE)
    with pytest.raises(CurrencyNotInvoiced):
        exponent_of("KWD")


@pytest.mark.parametrize(
    ("minor", "currency", "language", "text"),
    [
        (123456, "EUR", "en", "€1,234.56"),
        (123456, "EUR", "de", "1.234,56\N{NO-BREAK SPACE}€"),
        (123456, "EUR", "es", "1234,56\N{NO-BREAK SPACE}€"),
        (1234567, "EUR", "es", "12.345,67\N{NO-BREAK SPACE}€"),
        (-5, "USD", "en", "-$0.05"),
        (1234, "JPY", "en", "¥1,234"),
        (100, "ISK", "en", "ISK\N{NO-BREAK SPACE}100"),
        (150, "HUF", "en", "HUF\N{NO-BREAK SPACE}1.50"),
    ],
)
def test_amounts_are_written_as_people_of_a_language_do(minor: int, currency: str, language: str, text: str) -> None:
    assert format_money(minor, currency, language).replace("\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}") in (
        text,
        text.replace("\N{NO-BREAK SPACE}", ""),
    )


def test_prices_keep_the_decimals_that_another_currency_gave_them() -> None:
    written = [
        format_price(Decimal(price), currency)
        for price, currency in (("38.00", "USD"), ("1200.00", "JPY"), ("12.50", "JPY"))
    ]
    assert written == ["$38.00", "¥1,200", "¥12.50"]


def test_costs_are_rounded_to_the_decimals_of_their_currency() -> None:
    template = engines["django"].from_string("{% load money %}{{ cost|cost:'USD' }} {{ cost|cost:'JPY' }}")
    assert template.render({"cost": Decimal("1234.274000")}) == "$1,234.27 ¥1,234"

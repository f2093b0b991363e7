"""What broadcasts cost: rate cards as files, the most that an audience can cost, and what was billed."""

from datetime import date
from decimal import Decimal

import pytest

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from broadcasts.models import Rate
from broadcasts.services.costs import Billed, RateCardRefused, add_billed, billed_lines, estimate, import_rates
from broadcasts.services.markets import market_of, markets_of
from tests.broadcasts.under_way import a_broadcast

pytestmark = pytest.mark.django_db
CARD = """currency,category,market,price,valid_from
USD,marketing,DE,0.1365,2026-01-01
USD,Marketing,DE,0.1400,2026-10-01
USD,marketing,DE,0.2,2027-01-01
usd,MARKETING,North America,0.0250,2026-01-01
USD,marketing,Rest of Western Europe,0.0592,2026-01-01
USD,authentication_international,other,0.1,2026-01-01
EUR,marketing,DE,0.1131,2026-01-01
"""
TODAY = date(2026, 11, 22)


@pytest.fixture
def card() -> None:
    import_rates(content=CARD.encode(), by=SYSTEM)


@pytest.mark.parametrize(
    ("address", "market"),
    [
        ("+491701234567", "DE"),
        ("+12125550123", "US"),
        ("+14165550123", "CA"),
        ("+18095550123", "DO"),
        ("+1", "US"),
        ("+77011234567", "KZ"),
        ("+79161234567", "RU"),
        ("+447700900123", "GB"),
        ("+441534500000", "GB"),
        ("+3584512345", "FI"),
        ("+88312345", ""),
        ("+", ""),
        ("US.13491208655302741918", "US"),
        ("XX.1", ""),
        ("24681012", ""),
    ],
)
def test_a_recipient_s_market_is_the_country_of_the_number_or_of_the_id(address: str, market: str) -> None:
    assert market_of(address) == market


def test_recipients_are_counted_by_the_beginnings_of_their_numbers() -> None:
    assert markets_of({"+4917": 5, "+4915": 2, "+1212": 1, "US.13": 1}) == {"DE": 7, "US": 2}


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize(
    ("counts", "category", "currency", "on", "cost"),
    [
        ({"DE": 1_000}, "marketing", "USD", TODAY, "140.00"),
        ({"DE": 1_000}, "MARKETING", "USD", date(2026, 9, 30), "136.50"),
        ({"DE": 1_000}, "marketing", "EUR", TODAY, "113.10"),
        ({"US": 10, "CA": 10, "AT": 1}, "marketing", "USD", TODAY, "0.56"),  # 0.5592 is 0.56 at most
        ({"BR": 10}, "authentication-international", "USD", TODAY, "1.00"),
        ({}, "marketing", "USD", TODAY, "0.00"),
        ({"DE": 1, "BR": 1}, "marketing", "USD", TODAY, None),
        ({"DE": 1, "BR": 0}, "marketing", "USD", TODAY, "0.14"),
        ({"": 1}, "marketing", "USD", TODAY, None),
        ({"DE": 1}, "utility", "USD", TODAY, None),
        ({"DE": 1}, "marketing", "USD", date(2025, 12, 31), None),
        ({}, "marketing", "GBP", TODAY, None),
    ],
)
def test_an_audience_costs_its_markets_rates_at_most_and_nothing_is_said_without_a_card(
    counts: dict[str, int], category: str, currency: str, on: date, cost: str | None
) -> None:
    assert estimate(counts, category, currency, on) == (None if cost is None else Decimal(cost))


@pytest.mark.usefixtures("card")
def test_a_file_with_one_wrong_line_changes_nothing_and_says_what_is_wrong_in_each() -> None:
    before = list(Rate.objects.order_by("pk").values())
    wrong = (
        "\ufeffvalid_from;market;price;category;currency;note\r\n"
        "2026-10-01;DE;0.15;marketing;USD;good\r\n"
        "2026-10-01;Atlantis;0.15;marketing;USD;\r\n"
        "01.10.2026;DE;0.15;utility;USD;\r\n"
        "2026-10-01;FR;0,15;marketing;USD;\r\n"
        "2026-10-01;FR;-1;marketing;USD;\r\n"
        "2026-10-01;FR;1;;USD;\r\n"
        "2026-10-01;FR;1;marketing;Dollar;\r\n"
        "2026-10-01;DE;0.16;marketing;USD;twice\r\n"
        "2026-10-01\r\n"
    )

    with pytest.raises(RateCardRefused) as refused:
        import_rates(content=wrong.encode(), by=SYSTEM)

    assert [error.line for error in refused.value.lines] == [3, 4, 5, 6, 7, 8, 9, 10]
    assert "rest of africa" in refused.value.lines[0].message
    assert list(Rate.objects.order_by("pk").values()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must name each of"),
        (b"currency,category,market,price\n", "must name each of"),
        (CARD.split("\n")[0].encode(), "no rates"),
        (b"\xff\xfe", "no UTF-8"),
        (b"x" * 1_100_000, "1 MiB"),
    ],
)
def test_what_is_no_rate_card_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(RateCardRefused) as refused:
        import_rates(content=content, by=SYSTEM)

    assert message in refused.value.lines[0].message


@pytest.mark.usefixtures("card")
def test_an_imported_rate_gets_its_new_price() -> None:
    import_rates(content=CARD.replace("0.1400", "0.15").encode(), by=SYSTEM)

    assert Rate.objects.count() == 7
    assert Rate.objects.get(market="DE", valid_from=date(2026, 10, 1)).price == Decimal("0.15")
    assert ActivityEntry.objects.filter(action="rates.imported").count() == 2


@pytest.mark.usefixtures("card")
def test_what_was_billed_adds_up_by_month_category_and_market() -> None:
    broadcast, other = a_broadcast(), a_broadcast()
    november, october = date(2026, 11, 1), date(2026, 10, 1)
    add_billed(
        {Billed(broadcast.pk, november, "marketing", "DE", True): 2, Billed(other.pk, november, "x", "", True): 9}
    )
    add_billed(
        {
            Billed(broadcast.pk, november, "marketing", "DE", True): 1,
            Billed(broadcast.pk, november, "marketing", "DE", False): 4,
            Billed(broadcast.pk, october, "utility", "DE", True): 1,
        }
    )
    add_billed({})

    lines = [(one.month, one.category, one.is_billable, one.number, one.cost) for one in billed_lines(broadcast)]
    assert lines == [
        (november, "marketing", True, 3, Decimal("0.42")),
        (november, "marketing", False, 4, Decimal(0)),
        (october, "utility", True, 1, None),
    ]


@pytest.mark.parametrize(("currency", "cost"), [("JPY", "25"), ("KWD", "24.690"), ("EUR", "24.69")])
def test_an_estimate_has_the_decimals_of_its_currency(currency: str, cost: str) -> None:
    import_rates(
        content=f"currency,category,market,price,valid_from\n{currency},marketing,DE,8.23,2026-01-01\n".encode(),
        by=SYSTEM,
    )
    assert str(estimate({"DE": 3}, "marketing", currency, TODAY)) == cost

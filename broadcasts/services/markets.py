"""The markets by which networks price messages: a recipient's country, or its part of the world."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import phonenumbers

# This much of a number, plus included, gives its country. Numbers are grouped by it before the country is looked up.
PREFIX_LENGTH: Final = 5
UNKNOWN: Final = ""
OTHER: Final = "other"
# A rate card names the larger markets by country, and the rest by these regions.
REGIONS: Final[Mapping[str, str]] = {
    "north america": "CA US",
    "rest of africa": (
        "DZ AO BJ BW BF BI CM TD CG ER ET GA GM GH GW CI KE LS LR LY MG MW ML MR MA MZ NA NE RW SN SL SO SS SD SZ TZ "
        "TG TN UG ZM"
    ),
    "rest of asia pacific": "AF AU BD KH CN HK JP LA MN NP NZ PG PH SG LK TW TJ TH TM UZ VN",
    "rest of central & eastern europe": "AL AM AZ BY BG HR CZ GE GR HU LV LT MD MK PL RO RS SK SI UA",
    "rest of latin america": "BO CR DO EC SV GT HT HN JM NI PA PY PR UY VE",
    "rest of middle east": "BH IQ JO KW LB OM QA YE",
    "rest of western europe": "AT BE DK FI IE NO PT SE CH",
}
REGION_OF: Final = {country: region for region, countries in REGIONS.items() for country in countries.split()}
COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)


def market_of(address: str) -> str:
    """Return the country of a phone number (with its plus) or a business-scoped id; empty if it is unknown.

    A business-scoped id begins with its country: `US.13491208655302741918`.
    """
    if address.startswith("+"):
        return _of_prefix(address[:PREFIX_LENGTH])
    country, dot, _ = address.partition(".")
    return country if dot and country in COUNTRIES else UNKNOWN


def markets_of(prefixes: Mapping[str, int]) -> dict[str, int]:
    """Return the number of recipients in each market, from the number of addresses with each prefix."""
    found: Counter[str] = Counter()
    for prefix, number in prefixes.items():
        found[market_of(prefix)] += number
    return dict(found)


def names_of(market: str) -> tuple[str, ...]:
    """Return the names under which a rate card may list a country's price, most exact first."""
    region = REGION_OF.get(market)
    return (market, region, OTHER) if region else (market, OTHER)


@lru_cache(maxsize=20_000)
def _of_prefix(prefix: str) -> str:
    """Return the country of a prefix.

    Networks price by the calling code. Of countries that share a code, only North America's and Kazakhstan are told
    apart.
    """
    digits = prefix[1:]
    if digits.startswith("1"):
        number = phonenumbers.PhoneNumber(country_code=1, national_number=int(f"{digits[1:4]:2<3}5550123"))
        return phonenumbers.region_code_for_number(number) or "US"
    if digits.startswith(("76", "77")):
        return "KZ"
    for length in (1, 2, 3):
        regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(
            int(digits[:length]) if digits[:length].isdecimal() else 0
        )
        if regions:
            return regions[0] if regions[0] in COUNTRIES else UNKNOWN
    return UNKNOWN

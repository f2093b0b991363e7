"""Dates, times, numbers and percentages are written as people of each language write them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.template import engines
from django.utils.timezone import now
from django.utils.timezone import override as in_zone
from django.utils.translation import override

from config.formats import (
    format_day,
    format_day_time,
    format_number,
    format_percent,
    format_relative,
    format_time,
    format_typed,
    format_weekday_time,
    read_typed,
)

NOW = datetime(2026, 11, 23, 9, 5, 7, tzinfo=UTC)
DAYS = {
    "en": ("23 Nov 2026", "Mon, 23 Nov 2026", "Mon 23 Nov", "Monday 23 November", "November 2026"),
    "de": ("23. Nov. 2026", "Mo., 23. Nov. 2026", "Mo., 23. Nov.", "Montag, 23. November", "November 2026"),
    "es": ("23 nov 2026", "lun, 23 nov 2026", "lun, 23 nov", "lunes, 23 de noviembre", "noviembre de 2026"),
    "fr": ("23 nov. 2026", "lun. 23 nov. 2026", "lun. 23 nov.", "lundi 23 novembre", "novembre 2026"),
    "pt-br": (
        "23 de nov. de 2026",
        "seg., 23 de nov. de 2026",
        "seg., 23 de nov.",
        "segunda-feira, 23 de novembro",
        "novembro de 2026",
    ),
}
TIMES = {
    "en": ("09:05", "Mon 09:05", "23 Nov 2026, 09:05:07"),
    "de": ("09:05", "Mo., 09:05", "23. Nov. 2026, 09:05:07"),
    "es": ("9:05", "lun, 9:05", "23 nov 2026, 9:05:07"),
    "fr": ("09:05", "lun. 09:05", "23 nov. 2026, 09:05:07"),
    "pt-br": ("09:05", "seg., 09:05", "23 de nov. de 2026 09:05:07"),
}
RELATIVE = {
    "en": ("7 minutes ago", "1 day ago", "2 months ago", "in 3 hours"),
    "de": ("vor 7 Minuten", "vor 1 Tag", "vor 2 Monaten", "in 3 Stunden"),
    "es": ("hace 7 minutos", "hace 1 día", "hace 2 meses", "dentro de 3 horas"),
    "fr": ("il y a 7 minutes", "il y a 1 jour", "il y a 2 mois", "dans 3 heures"),
    "pt-br": ("há 7 minutos", "há 1 dia", "há 2 meses", "em 3 horas"),
}
NUMBERS = {
    "en": ("1,234,567", "17%", "99.5%"),
    "de": ("1.234.567", "17\N{NO-BREAK SPACE}%", "99,5\N{NO-BREAK SPACE}%"),
    "es": ("1.234.567", "17\N{NO-BREAK SPACE}%", "99,5\N{NO-BREAK SPACE}%"),
    "fr": (
        "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567",
        "17\N{NO-BREAK SPACE}%",
        "99,5\N{NO-BREAK SPACE}%",
    ),
    "pt-br": ("1.234.567", "17%", "99,5%"),
}
LANGUAGES = [code for code, _ in settings.LANGUAGES]


@pytest.mark.parametrize("language", LANGUAGES)
def test_days(language: str) -> None:
    with override(language):
        skeletons = ("yMMMd", "yMMMEd", "MMMEd", "MMMMEEEEd", "yMMMM")
        assert tuple(format_day(NOW, skeleton) for skeleton in skeletons) == DAYS[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_times(language: str) -> None:
    with override(language):
        written = format_time(NOW), format_weekday_time(NOW), format_day_time(NOW, seconds=True)
        assert written == TIMES[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_relative_times(language: str) -> None:
    lengths = timedelta(minutes=-7), timedelta(hours=-47), timedelta(days=-65), timedelta(hours=3, minutes=59)
    with override(language):
        assert tuple(format_relative(NOW + length, NOW) for length in lengths) == RELATIVE[language]


@pytest.mark.parametrize(
    ("days", "text"), [(29, "4 weeks ago"), (30, "1 month ago"), (364, "11 months ago"), (800, "2 years ago")]
)
def test_a_year_begins_after_365_days(days: int, text: str) -> None:
    assert format_relative(NOW - timedelta(days=days), NOW) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_and_percentages(language: str) -> None:
    with override(language):
        assert (format_number(1234567), format_percent(17), format_percent(99.52, 1)) == NUMBERS[language]


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (Decimal("2.50"), None, "2.5"),
        (Decimal("2.5"), 2, "2.50"),
        (1234, 1, "1,234.0"),
        (Decimal("12.00"), -2, "12"),
        (Decimal("12.5"), -2, "12.50"),
    ],
)
def test_decimals_are_those_that_are_asked_for_or_that_are_there(value: Any, decimals: int | None, text: str) -> None:
    assert format_number(value, decimals) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_typed_numbers_are_read_as_they_are_shown(language: str) -> None:
    sign = "." if language == "en" else ","
    with override(language):
        assert format_typed(Decimal("1234.50")) == f"1234{sign}50"
        for number in map(Decimal, ("0", "60", "60.00", "-7.5", "0.125", "1.234", "1234567.89", "1E+3")):
            assert read_typed(format_typed(number)) == number


TYPED = {
    " 60.00 ": "60.00",
    "60,00": "60.00",
    "60,5": "60.5",
    ",5": "0.5",
    "60,": "60",
    "\N{MINUS SIGN}3,50": "-3.50",
    "1234,567": "1234.567",
    "0,125": "0.125",
    "1.234,50": "1234.50",
    "1,234.50": "1234.50",
    "1.234.567": "1234567",
    "1 234,5": "1234.5",
    "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567,89": "1234567.89",
    "9" * 40: "9" * 40,
}
NOT_NUMBERS = (
    *("", ".", "-", "abc", "1e3", "1_000", "0x10", "NaN", "Infinity", "5 \N{EURO SIGN}", "1,2,3", "1.2.3", "12.34,5"),
    *("1.234,50,00", "1,234,56", "1.234.56", "12 34", "1 2345", "1..2", "--5", "1\n234\n5", "9" * 41),
    *("\N{ARABIC-INDIC DIGIT SIX}\N{ARABIC-INDIC DIGIT ZERO}", "\N{FULLWIDTH DIGIT SIX}", "6\N{RIGHT-TO-LEFT MARK}"),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_signs_are_read_unless_they_could_separate_thousands(language: str) -> None:
    own, other = (".", ",") if language == "en" else (",", ".")
    with override(language):
        assert {text: read_typed(text) for text in TYPED} == {text: Decimal(number) for text, number in TYPED.items()}
        assert {text: read_typed(text) for text in NOT_NUMBERS} == dict.fromkeys(NOT_NUMBERS)
        for whole in ("1", "-12", "123"):
            assert read_typed(f"{whole}{own}234") == Decimal(f"{whole}.234")
            assert read_typed(f"{whole}{other}234") is None
        assert read_typed(f"1{own}234" * 100_000) is None


FILTERS = {
    "day": "{{ at|day }}",
    "weekday": "{{ at|weekday_time }}",
    "day and time": "{{ at|day_time }}",
    "written": "{{ '2026-11-23T09:05:00'|wall_clock }}",
    "clock": "{{ at|clock_time }}",
    "brief": "{{ long_ago|brief }}",
    "from now": "{{ in_hours|relative }}",
    "unlimited": "{{ none|amount }}",
    "zone": "{{ at|day_time_zone }}",
    "other zone": "{{ at|timezone:'America/New_York'|clock_time_zone }}",
    "third zone": "{{ at|timezone:'Asia/Kolkata'|clock_time_zone }}",
    "universal": "{{ at|timezone:'UTC'|clock_time_zone }}",
    "week": "{% days first last %}",
    "weeks": "{% days first later 'yMMMMd' %}",
    "years": "{% days first next_year %}",
    "one day": "{% days first first %}",
    "hour": "{{ at|times_until:soon }}",
    "period": "{{ at|period_until:soon }}",
    "long period": "{{ at|period_until:tomorrow }}",
    "none": "{{ none|day }}{{ none|number }}{{ none|percent }}",
    "numbers": "{{ 1234|number }} {{ 9999.6|number:0 }} {{ 12345|number }} {{ 1234|percent }}",
}
# In the order of FILTERS, by the clock of Berlin. A dash is written as a hyphen here, and every space as a usual one.
FILTERED = {
    "en": """23 Nov 2026|Mon 10:05|23 Nov 2026, 10:05|23 Nov 2026, 09:05|10:05|3 Mar 2020|in 3 hours|No limit
        |23 Nov 2026, 10:05 CET|04:05 EST|14:35 GMT+5:30|09:05 UTC
        |23-29 Nov 2026|23 November - 5 December 2026|23 Nov 2026 - 3 Jan 2027|23 Nov 2026
        |10:05-11:05|Mon, 23 Nov 2026, 10:05-11:05|Mon, 23 Nov 2026, 10:05 - Tue, 24 Nov 2026, 10:05
        ||1,234 10,000 12,345 1,234%""",
    "de": """23. Nov. 2026|Mo., 10:05|23. Nov. 2026, 10:05|23. Nov. 2026, 09:05|10:05|3. März 2020
        |in 3 Stunden|Kein Limit
        |23. Nov. 2026, 10:05 MEZ|04:05 GMT-5|14:35 GMT+5:30|09:05 UTC
        |23.-29. Nov. 2026|23. November - 5. Dezember 2026|23. Nov. 2026 - 3. Jan. 2027|23. Nov. 2026
        |10:05-11:05 Uhr|Mo., 23. Nov. 2026, 10:05-11:05 Uhr|Mo., 23. Nov. 2026, 10:05 - Di., 24. Nov. 2026, 10:05
        ||1.234 10.000 12.345 1.234 %""",
    "es": """23 nov 2026|lun, 10:05|23 nov 2026, 10:05|23 nov 2026, 9:05|10:05|3 mar 2020|dentro de 3 horas|Sin límite
        |23 nov 2026, 10:05 CET|4:05 GMT-5|14:35 GMT+5:30|9:05 UTC
        |23-29 nov 2026|23 de noviembre - 5 de diciembre de 2026|23 nov 2026 - 3 ene 2027|23 nov 2026
        |10:05-11:05|lun, 23 nov 2026, 10:05-11:05|lun, 23 nov 2026, 10:05 - mar, 24 nov 2026, 10:05
        ||1234 10.000 12.345 1234 %""",
    "fr": """23 nov. 2026|lun. 10:05|23 nov. 2026, 10:05|23 nov. 2026, 09:05|10:05|3 mars 2020|dans 3 heures
        |Aucune limite
        |23 nov. 2026, 10:05 UTC+1|04:05 HNE|14:35 UTC+5:30|09:05 UTC
        |23-29 nov. 2026|23 novembre - 5 décembre 2026|23 nov. 2026 - 3 janv. 2027|23 nov. 2026
        |10:05 - 11:05|lun. 23 nov. 2026, 10:05 - 11:05|lun. 23 nov. 2026, 10:05 - mar. 24 nov. 2026, 10:05
        ||1 234 10 000 12 345 1 234 %""",
    "pt-br": """23 de nov. de 2026|seg., 10:05|23 de nov. de 2026 10:05|23 de nov. de 2026 09:05|10:05|3 de mar. de 2020
        |em 3 horas|Sem limite
        |23 de nov. de 2026 10:05 GMT+1|04:05 GMT-5|14:35 GMT+5:30|09:05 UTC
        |23 - 29 de nov. de 2026|23 de novembro - 5 de dezembro de 2026|23 de nov. de 2026 - 3 de jan. de 2027
        |23 de nov. de 2026
        |10:05 - 11:05|seg., 23 de nov. de 2026 10:05 - 11:05
        |seg., 23 de nov. de 2026 10:05 - ter., 24 de nov. de 2026 10:05
        ||1.234 10.000 12.345 1.234%""",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_write_by_the_patterns_of_each_language(language: str) -> None:
    shown = {
        "at": NOW,
        "soon": NOW + timedelta(hours=1),
        "tomorrow": NOW + timedelta(days=1),
        "first": NOW.date(),
        "last": NOW.date() + timedelta(days=6),
        "later": NOW.date() + timedelta(days=12),
        "long_ago": NOW.replace(year=2020, month=3, day=3),
        "in_hours": now() + timedelta(hours=3, minutes=30),
        "next_year": NOW.date() + timedelta(days=41),
        "none": None,
    }
    text = "{% load pages tz %}" + "|".join(FILTERS.values())
    with override(language), in_zone("Europe/Berlin"):
        written = engines["django"].from_string(text).render(shown)
    expected = [part.strip() for part in FILTERED[language].split("|")]
    assert [" ".join(part.replace("\N{EN DASH}", "-").split()) for part in written.split("|")] == expected


def test_templates_show_the_clock_of_the_page_s_zone() -> None:
    text = (
        "{% load pages tz %}{{ at|day }}|{{ at|day_time_zone }}|{{ at|clock_time_zone }}|"
        "{{ at|timezone:'Europe/Berlin'|day_time }}|{{ none|day }}|{{ at.date|day:'MMMd' }}"
    )
    with in_zone("America/New_York"):
        written = engines["django"].from_string(text).render({"at": NOW.replace(hour=3), "none": None})
    assert written == "22 Nov 2026|22 Nov 2026, 22:05 EST|22:05 EST|23 Nov 2026, 04:05||23 Nov"

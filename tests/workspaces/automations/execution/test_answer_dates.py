"""Dates and times as contacts write them. Now is Friday, 27 November 2026, 11:00 in Berlin."""

from datetime import UTC, datetime
from types import MappingProxyType

import pytest

from workspaces.automations.execution.answer_dates import parse_date

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)


def read(text: str, languages: tuple[str, ...], country: str, timezone: str = "Europe/Berlin") -> str | None:
    found = parse_date(text, languages=languages, country=country, timezone=timezone, now=NOW)
    return None if found is None else found.value


def table(text: str) -> MappingProxyType[str, str | None]:
    """Read lines such as `tomorrow at 3 = 2026-11-28T15:00`. A dash stands for no date."""
    lines = (line.rpartition(" = ") for line in text.strip().splitlines())
    return MappingProxyType({said.strip(): None if date == "-" else date for said, _, date in lines})


AMERICAN = table("""
    tomorrow at 3 = 2026-11-28T15:00
    tomorrow at 3pm = 2026-11-28T15:00
    3 p.m. tomorrow = 2026-11-28T15:00
    tomorrow 3:30 = 2026-11-28T15:30
    tomorrow at 03:30 = 2026-11-28T03:30
    tomorrow at 7 = 2026-11-28T19:00
    tomorrow at 9 = 2026-11-28T09:00
    12am tomorrow = 2026-11-28T00:00
    12pm tomorrow = 2026-11-28T12:00
    tomorrow noon = 2026-11-28T12:00
    tonight at 8 = 2026-11-27T20:00
    tomorrow morning at 9 = 2026-11-28T09:00
    3 in the afternoon tomorrow = 2026-11-28T15:00
    tomorrow morning = 2026-11-28
    at 3 = 2026-11-27T15:00
    9am = 2026-11-28T09:00
    I'd like to come tomorrow at 3 please = 2026-11-28T15:00
    Tuesday = 2026-12-01
    next Tuesday = 2026-12-01
    Friday = 2026-12-04
    on Tuesday at half past 4 = 2026-12-01T16:30
    Tuesday Dec 1 = 2026-12-01
    Tuesday Dec 2 = -
    tuesday next week = 2026-12-01
    the 5th = 2026-12-05
    the 31st = 2026-12-31
    Dec 5 = 2026-12-05
    December 5th, 2027 = 2027-12-05
    first of May = 2027-05-01
    March 3 at quarter to 5 = 2027-03-03T16:45
    Feb 29 = 2028-02-29
    Feb 30 = -
    12/5 = 2026-12-05
    25/12 = 2026-12-25
    31/11 = -
    12/5/85 = 1985-12-05
    5.12. = -
    2026-12-01T15:00 = 2026-12-01T15:00
    ٢\u0660٢٦-\u0661٢-\u0660\u0661 = 2026-12-01
    in 3 days = 2026-11-30
    in a week = 2026-12-04
    in 3 months = 2027-02-27
    2 weeks ago = 2026-11-13
    ok = -
    no = -
    a = -
    May = -
    5 = -
    1500 = -
    20k = -
    555-1234 = -
    last Tuesday = -
    not tomorrow = -
    after the 5th = -
    the 5th is impossible = -
    not 5 Dec = -
    tomorrow or Tuesday = -
    between 5 and 7 dec = -
    5-7 dec = -
    at 99 = -
    13/13/2026 = -
    1/1/1850 = -
    1/1/2850 = -
""")
GERMAN = table("""
    morgen um 15 Uhr = 2026-11-28T15:00
    morgen um 3 = 2026-11-28T15:00
    morgen um halb 4 = 2026-11-28T15:30
    morgen um viertel nach 3 = 2026-11-28T15:15
    15.30 Uhr = 2026-11-27T15:30
    15 Uhr 30 = 2026-11-27T15:30
    um 3 am Dienstag = 2026-12-01T15:00
    um 3 Uhr nachmittags = 2026-11-27T15:00
    heute Abend um 8 = 2026-11-27T20:00
    morgen früh um 9 = 2026-11-28T09:00
    übermorgen = 2026-11-29
    am Dienstag = 2026-12-01
    nächsten Dienstag = 2026-12-01
    nächste Woche Dienstag = 2026-12-01
    Dienstag, den 1. Dezember = 2026-12-01
    am 5. = 2026-12-05
    am 5.12. um 3 = 2026-12-05T15:00
    05.12.2026 um 15:30 Uhr = 2026-12-05T15:30
    am ersten Mai = 2027-05-01
    12.03.1985 = 1985-03-12
    in drei Tagen = 2026-11-30
    vor 2 Tagen = 2026-11-25
    Guten Morgen = -
    am Dienstag nicht = -
    nächste Woche = -
    nein = -
""")
SPANISH = table("""
    mañana a las 3 = 2026-11-28T15:00
    mañana por la mañana = 2026-11-28
    mañana a las 3 y media = 2026-11-28T15:30
    pasado mañana a las 15:30 = 2026-11-29T15:30
    a la una = 2026-11-27T13:00
    hoy a las 8 de la noche = 2026-11-27T20:00
    el martes que viene a las 5 de la tarde = 2026-12-01T17:00
    el lunes de la próxima semana = 2026-11-30
    el 1 de enero a las 10 am = 2027-01-01T10:00
    día 5 = 2026-12-05
    el 5 = 2026-12-05
    5/12 = 2026-12-05
    dentro de 3 días = 2026-11-30
    a = -
    sí = -
""")
FRENCH = table("""
    demain à 15h = 2026-11-28T15:00
    demain à 15h30 = 2026-11-28T15:30
    demain à 3 heures et demie = 2026-11-28T15:30
    aujourd\u2019hui à 18h = 2026-11-27T18:00
    le 5 à 3h de l'après-midi = 2026-12-05T15:00
    ce soir à 8h = 2026-11-27T20:00
    demain midi = 2026-11-28T12:00
    mardi prochain = 2026-12-01
    mardi 1er décembre = 2026-12-01
    après-demain = 2026-11-29
    il y a 2 jours = 2026-11-25
    mars = -
    non = -
""")
PORTUGUESE = table("""
    amanhã às 15h = 2026-11-28T15:00
    amanhã às 3 da tarde = 2026-11-28T15:00
    às 3 e meia = 2026-11-27T15:30
    hoje à noite às 8 = 2026-11-27T20:00
    segunda às 10h = 2026-11-30T10:00
    na próxima terça = 2026-12-01
    terça-feira = 2026-12-01
    dia 5 = 2026-12-05
    depois de amanhã = 2026-11-29
    daqui a 3 dias = 2026-11-30
    semana que vem = -
    não = -
""")


@pytest.mark.parametrize(
    ("language", "country", "dates"),
    [
        ("en", "US", AMERICAN),
        ("de", "DE", GERMAN),
        ("es", "ES", SPANISH),
        ("fr", "FR", FRENCH),
        ("pt-BR", "BR", PORTUGUESE),
    ],
)
def test_dates_are_read_in_each_language(language: str, country: str, dates: MappingProxyType[str, str | None]) -> None:
    assert {text: read(text, (language,), country) for text in dates} == dates


def test_the_country_says_whether_the_day_or_the_month_comes_first() -> None:
    assert read("12/5", ("en",), "GB") == "2027-05-12"
    assert read("12/5", ("en",), "JP") == "2026-12-05"
    assert read("12/5", ("en",), "CA") is None
    assert read("12/5", ("en",), "") is None
    assert read("12/12", ("en",), "") == "2026-12-12"
    assert read("25/12", ("en",), "CA") == "2026-12-25"


def test_only_words_of_the_languages_of_contact_and_workspace_count() -> None:
    assert read("morgen um 3", ("en",), "DE") is None
    assert read("morgen um 3", ("en", "de"), "DE") == "2026-11-28T15:00"


def test_next_weekday_is_of_the_next_week_where_people_mean_it() -> None:
    monday = datetime(2026, 11, 23, 10, tzinfo=UTC)

    def on_monday(text: str, language: str) -> str | None:
        found = parse_date(text, languages=(language,), country="DE", timezone="UTC", now=monday)
        return None if found is None else found.value

    assert on_monday("next Friday", "en") == "2026-12-04"
    assert on_monday("nächsten Freitag", "de") == "2026-12-04"
    assert on_monday("kommenden Freitag", "de") == "2026-11-27"
    assert on_monday("el próximo viernes", "es") == "2026-11-27"


def test_today_is_a_day_where_the_contact_is() -> None:
    late = datetime(2026, 11, 27, 23, 30, tzinfo=UTC)
    for zone, date in {"UTC": "2026-11-28", "Asia/Tokyo": "2026-11-29", "Nowhere/Land": "2026-11-28"}.items():
        found = parse_date("tomorrow", languages=("en",), country="US", timezone=zone, now=late)
        assert found is not None
        assert found.value == date


def test_only_short_texts_are_judged() -> None:
    assert read("tomorrow" + " " * 52, ("en",), "US") == "2026-11-28"
    assert read("tomorrow" + " " * 53, ("en",), "US") is None


CLEAR = {
    "US": ("Dec 5", "12/25", "3/3", "Saturday 12/5", "2026-12-01", "2026-12-01T15:00", "Dec 5 at 3pm", "Dec 5, 15:30"),
    "DE": (
        "5. Dezember",
        "1.12.",
        "25/12",
        "1.12.2026 um 15 Uhr",
        "1.12. 10:00",
        "1.12. um 10 Uhr",
        "1.12. nachmittags um 3",
    ),
}
UNCLEAR = {
    "US": ("tomorrow", "Tuesday", "in 3 days", "the 5th", "12/5", "3pm", "Dec 5 at 3", "Dec 5 at 10:00", "12/5/2026"),
    "DE": ("morgen", "am Dienstag", "am 5.", "1/12", "15 Uhr", "1.12. um 3", "1.12. um 3 Uhr", "1.12. halb 4"),
}


@pytest.mark.parametrize("country", ["US", "DE"])
def test_what_was_guessed_is_known(country: str) -> None:
    """Only a year may be missing from a date that is clear."""

    def is_clear(text: str) -> bool:
        language = "en" if country == "US" else "de"
        found = parse_date(text, languages=(language,), country=country, timezone="UTC", now=NOW)
        assert found is not None, text
        return found.is_clear

    assert [text for text in CLEAR[country] if not is_clear(text)] == []
    assert [text for text in UNCLEAR[country] if is_clear(text)] == []

"""What contacts answer to questions: numbers, addresses, choices, ratings, yes and no."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.automations.execution.answers import (
    MOST_KEPT,
    Answer,
    match_choice,
    parse_answer,
    parse_rating,
    parse_yes_no,
)

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)
ALL = ("en", "de", "es", "fr", "pt-BR")


def value(kind: str, text: str, country: str = "", languages: tuple[str, ...] = ("en",)) -> str | None:
    answer = parse_answer(kind, text, languages=languages, country=country, timezone="Europe/Berlin", now=NOW)
    return None if answer is None else answer.value


@pytest.mark.parametrize(
    ("text", "country", "language", "number"),
    [
        ("20k", "", "en", "20000"),
        ("1.5k", "DE", "de", "1500"),
        ("1,5 mil", "ES", "es", "1500"),
        ("$1,200.50", "US", "en", "1200.5"),
        ("1.200,50 €", "DE", "de", "1200.5"),
        ("1'000.50", "CH", "de", "1000.5"),
        ("10 000", "FR", "fr", "10000"),
        ("10.000", "DE", "de", "10000"),
        ("10.000", "US", "en", None),  # ten, or ten thousand
        ("10,00,000", "IN", "en", "1000000"),
        ("0,125", "DE", "de", "0.125"),
        ("50,-", "DE", "de", "50"),
        ("-5", "", "en", "-5"),
        ("-0", "", "en", "0"),
        ("٣", "", "ar", "3"),
        ("②", "", "en", "2"),
        ("we are 4 people", "", "en", "4"),
        ("5 (five)", "", "en", "5"),
        ("ten", "", "en", "10"),
        ("twenty-five", "", "en", "25"),
        ("one hundred and five", "", "en", "105"),
        ("fünfundzwanzig", "", "de", "25"),
        ("treinta y cinco", "", "es", "35"),
        ("dos mil", "", "es", "2000"),
        ("quatre-vingt-dix-sept", "", "fr", "97"),
        ("soixante et onze", "", "fr", "71"),
        ("vinte e cinco", "", "pt", "25"),
        ("una mesa para cuatro", "MX", "es", "4"),
        ("una persona", "", "es", "1"),
        ("keine", "", "de", "0"),
        ("between 100 and 200", "", "en", None),
        ("ein oder zwei", "", "de", None),
        ("a few", "", "en", None),
        ("ein paar", "", "de", None),
        ("2 adults and 1 child", "", "en", None),
        ("5-6", "", "en", None),
        ("5\u20136", "", "en", None),
        ("1/2", "", "en", None),
        ("5-5", "", "en", None),
        ("4/4", "", "en", None),
        ("½", "", "en", None),
        ("2x3", "", "en", None),
        ("15:30", "", "en", None),
        ("3pm", "", "en", None),
        ("1.2.3", "", "en", None),
        ("iphone15", "", "en", None),
        ("1e5", "", "en", None),
        ("9" * 40, "", "en", None),
        ("no", "", "en", None),
        ("", "", "en", None),
    ],
)  # fmt: skip
def test_a_number_is_read_if_there_is_just_one(text: str, country: str, language: str, number: str | None) -> None:
    assert value("number", text, country, (language,)) == number


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("my mail is Ana.B@Example.COM, thanks!", "Ana.B@example.com"),
        ("ana @ gmail.com", "ana@gmail.com"),
        ("ana\uff20gmail.com", "ana@gmail.com"),
        ("<ana@gmail.com>.", "ana@gmail.com"),
        ("*ana@gmail.com*", "ana@gmail.com"),
        ("mailto:ana@x.de", "ana@x.de"),
        ("ana@münchen.de", "ana@münchen.de"),
        ("ana@gmail.com or bea@gmail.com", None),
        ("ana@gmail", None),
        ("no", None),
    ],
)
def test_an_email_address_is_found_in_a_sentence(text: str, address: str | None) -> None:
    assert value("email", text) == address


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("0151 23456789", "DE", "+4915123456789"),
        ("0151 23456789", "", None),
        ("0049 151 23456789", "US", "+4915123456789"),
        ("\u0660\u0661\u0665\u0661 ٢٣٤\u0665٦\u0667٨٩", "DE", "+4915123456789"),
        ("my number is +1 (415) 555-2671 ok?", "DE", "+14155552671"),
        ("06 12 34 56 78", "FR", "+33612345678"),
        ("11 91234-5678", "BR", "+5511912345678"),
        ("+4915123456789 +14155552671", "DE", None),
        ("call 415 555 2671 ext 5", "US", None),
        ("20.12.2026", "DK", None),  # as digits it would be a valid number there
        ("20 12 20 26", "DK", "+4520122026"),
        ("tomorrow at 3", "DE", None),
        ("12345", "DE", None),
    ],
)
def test_a_phone_number_is_read_in_the_country_of_the_contact(text: str, country: str, number: str | None) -> None:
    assert value("phone", text, country) == number


def test_a_text_is_kept_without_control_characters_and_bounded() -> None:
    assert value("text", "  a\x00b\n ") == "ab"
    assert value("text", "\u200b \u2066") is None
    assert value("text", "x" * 5_000) == "x" * MOST_KEPT
    assert value("file", "photo.jpg") is None


def test_an_answer_is_repeated_as_the_contact_writes_it() -> None:
    def answer(kind: str, text: str, country: str, language: str) -> Answer | None:
        return parse_answer(kind, text, languages=(language,), country=country, timezone="UTC", now=NOW)

    assert answer("number", "12,5", "DE", "de") == Answer("12.5", "12,5")
    assert answer("phone", "0151 23456789", "DE", "de") == Answer("+4915123456789", "+49 1512 3456789")
    shown = "Saturday, November 28, 2026, 3:00 PM"
    assert answer("date", "tomorrow at 3", "US", "en") == Answer("2026-11-28T15:00", shown, is_clear=False)


SERVICES = ("Haircut", "Hair colour", "Beard trim", "💇 Styling")
GUESTS = ("2 people", "4 people", "6 or more")
CONSENT = ("Yes, book it", "No thanks")


@pytest.mark.parametrize(
    ("titles", "text", "option"),
    [
        (SERVICES, "1", 0), (SERVICES, "2.", 1), (SERVICES, "②", 1), (SERVICES, "3️⃣", 2), (SERVICES, "#4", 3),
        (SERVICES, "option 2", 1), (SERVICES, "the second one", 1), (SERVICES, "2nd", 1), (SERVICES, "two", 1),
        (SERVICES, "HAIRCUT!", 0), (SERVICES, "hair cut", 0), (SERVICES, "hair c", 1), (SERVICES, "beard", 2),
        (SERVICES, "styling", 3), (SERVICES, "the beard one please", 2), (SERVICES, "I'd like a haircut please", 0),
        (SERVICES, "hair", None), (SERVICES, "haircut or beard", None), (SERVICES, "not haircut", None),
        (SERVICES, "1 or 2", None), (SERVICES, "5", None), (SERVICES, "0", None), (SERVICES, "x", None),
        (SERVICES, "", None),
        (GUESTS, "2", 0), (GUESTS, "four", 1), (GUESTS, "more", 2), (GUESTS, "1", None), (GUESTS, "people", None),
        (CONSENT, "yep", 0), (CONSENT, "👍", 0), (CONSENT, "nope", 1), (CONSENT, "book it", 0),
        (("价格", "地址"), "价格", 0), (("Spät", "Früh"), "fruh", 1), (("A", "B", "AB"), "ab", 2),
        (("Same", "Same"), "same", None), ((), "1", None),
    ],
)  # fmt: skip
def test_a_choice_is_named_by_its_title_number_or_a_word_of_its_own(
    titles: tuple[str, ...], text: str, option: int | None
) -> None:
    assert match_choice(titles, text, ["en"]) == option


@pytest.mark.parametrize(
    ("text", "stars"),
    [
        ("5", 5), ("5/5", 5), ("4 out of 5", 4), ("4 von 5", 4), ("3 de 5", 3), ("⭐⭐⭐", 3), ("★★★★☆", 4), ("٤", 4),
        ("5️⃣", 5), ("①", 1), ("5 stars!", 5), ("fünf Sterne", 5), ("dos estrellas", 2), ("cinco", 5), ("un", 1),
        ("excellent!", 5), ("4.5", 4), ("4,7", 5), ("⭐", 1),
        ("4⭐", 4), ("⭐ 3/5", 3), ("5 stars, delivery took 2 days", 5),
        ("not excellent", None), ("I waited 3 hours", None), ("8/10", None), ("5/50", None), ("1 or 5", None),
        ("10", None), ("0", None), ("-5", None), ("⭐" * 6, None), ("four five", None), ("", None),
    ],
)  # fmt: skip
def test_a_rating_has_one_to_five_stars(text: str, stars: int | None) -> None:
    assert parse_rating(text) == stars


@pytest.mark.parametrize(
    ("language", "yes", "no", "neither"),
    [
        ("en", ["Yes please!", "ok 👍", "👍🏽", "no problem", "why not", "Yes, I agree", "y"],
         ["no thanks", "nope", "not now", "of course not", "I don't agree", "❌"],
         ["yes but not marketing", "I don't know", "yes no", "maybe", "not sure", "yes I want to unsubscribe", ""]),
        ("de", ["ja", "jo", "kein Problem", "einverstanden", "yes"], ["nein danke", "nö", "auf keinen Fall"],
         ["vielleicht", "ja, aber später nicht"]),
        ("es", ["Sí", "si, claro", "no hay problema", "de acuerdo"], ["claro que no", "no, gracias"], ["sí no"]),
        ("fr", ["bien sûr", "d\u2019accord", "pas de problème", "J'accepte"], ["pas d'accord", "non merci"], ["bof"]),
        ("pt-BR", ["sim", "com certeza", "tá bom"], ["Não, obrigado", "de jeito nenhum"], ["talvez"]),
    ],
)  # fmt: skip
def test_yes_and_no_are_whole_messages(language: str, yes: list[str], no: list[str], neither: list[str]) -> None:
    assert {text: parse_yes_no(text, [language]) for text in yes} == dict.fromkeys(yes, True)
    assert {text: parse_yes_no(text, [language]) for text in no} == dict.fromkeys(no, False)
    assert {text: parse_yes_no(text, [language]) for text in neither} == dict.fromkeys(neither)


PIECES = st.sampled_from(
    (*"0123456789.,:;/-+@#()' \n", "ﷺ", "\u0301", "\u200b", "٣", "我", "हि", "⭐", "\ud800", "a@b.de", "+49 151 ",
     "tomorrow ", "at ", "mañana ", "a las ", "halb ", "next ", "twenty-", "yes ", "no ", "haircut ", "in ", "5th ")
)  # fmt: skip
ODD_TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))
SHAPES = {
    "number": r"-?\d{1,15}(\.\d{1,6})?",
    "phone": r"\+[1-9]\d{4,14}",
    "date": r"\d{4}-\d\d-\d\d(T\d\d:\d\d)?",
    "email": r"[^\s@]+@[^\s@]+",
    "text": r"[\s\S]{1,1000}",
}


@given(ODD_TEXTS, st.sampled_from(["", "DE", "US", "CA", "XX", "us"]))
def test_any_text_gives_a_well_formed_answer_or_none(text: str, country: str) -> None:
    for kind, shape in SHAPES.items():
        found = value(kind, text, country, ALL)
        assert found is None or re.fullmatch(shape, found), (kind, found)
    assert parse_rating(text) in (None, 1, 2, 3, 4, 5)
    assert parse_yes_no(text, ALL) in (None, True, False)
    assert match_choice(SERVICES, text, ALL) in (None, 0, 1, 2, 3)

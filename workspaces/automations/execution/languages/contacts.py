"""The languages in which a contact's answers are read, and in which values are written for it."""

from functools import lru_cache
from typing import Final

from config.formats import writes_language

# The languages of answers, by the contact's country. English is always understood.
LANGUAGES: Final = {
    **dict.fromkeys(("DE", "AT", "LI"), "de"),
    **dict.fromkeys(("ES", "MX", "AR", "CO", "CL", "PE", "VE", "EC", "UY", "PY", "BO", "GT", "CR", "PA", "DO"), "es"),
    **dict.fromkeys(("FR", "MC", "LU", "SN", "CI"), "fr"),
    **dict.fromkeys(("BR", "PT", "AO", "MZ"), "pt"),
}


@lru_cache(maxsize=1_024)
def languages_of(language: str, country: str) -> tuple[str, ...]:
    """Return the languages of a contact with this language and country, the likeliest first."""
    own = language.partition("-")[0].partition("_")[0].lower()
    return tuple(dict.fromkeys(filter(None, (own, LANGUAGES.get(country.upper(), ""), "en"))))


def money_language(language: str, country: str) -> str:
    """Return the likeliest language of a contact in which money can be written."""
    return next(filter(writes_language, languages_of(language, country)))

"""The words for numbers in each language, and how a language and a country write digits."""

from collections.abc import Iterable, Mapping
from typing import Final

from workspaces.automations.execution.languages.normalization import normalized, word_set

KNOWN: Final = ("en", "de", "es", "fr", "pt")

# From zero to twenty, then the tens up to a hundred.
_COUNTED = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf vingt trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix cent",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete "
    "dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem",
}
_VALUES = (*range(21), *range(30, 101, 10))
_FURTHER: Final[Mapping[str, Mapping[str, int]]] = {
    "en": {"none": 0, "nil": 0, "thousand": 1000, "dozen": 12},
    "de": {"keine": 0, "keiner": 0, "keins": 0, "zwo": 2, "tausend": 1000, "dutzend": 12, "einhundert": 100},
    "es": {"ninguno": 0, "ninguna": 0, "ningún": 0, "docena": 12, "mil": 1000},
    "fr": {"aucun": 0, "aucune": 0, "septante": 70, "nonante": 90, "mille": 1000, "douzaine": 12, "quatre-vingt": 80},
    "pt": {"nenhum": 0, "nenhuma": 0, "duas": 2, "dezasseis": 16, "dezassete": 17, "dezanove": 19, "mil": 1000},
}
# These are also articles, so they only count where the text has no other number.
_ARTICLES = {"en": "", "de": "ein eine einen einem einer eines", "es": "un una uno", "fr": "un une", "pt": "um uma"}
_ORDINALS = {
    "en": ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    "de": ("erste", "zweite", "dritte", "vierte", "fünfte", "sechste", "siebte", "achte", "neunte", "zehnte"),
    "es": ("primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "séptimo", "octavo", "noveno", "décimo"),
    "fr": ("premier", "deuxième", "troisième", "quatrième", "cinquième", "sixième", "septième", "huitième",
           "neuvième", "dixième"),
    "pt": ("primeiro", "segundo", "terceiro", "quarto", "quinto", "sexto", "sétimo", "oitavo", "nono", "décimo"),
}  # fmt: skip

# Multipliers written after a number.
MULTIPLIERS: Final[Mapping[str, int]] = {
    "k": 10**3,
    "thousand": 10**3,
    "tsd": 10**3,
    "tausend": 10**3,
    "mil": 10**3,
    "mille": 10**3,
    "mio": 10**6,
    "million": 10**6,
    "millions": 10**6,
    "millionen": 10**6,
    "millon": 10**6,
    "millones": 10**6,
    "milhao": 10**6,
    "milhoes": 10**6,
}
# Words that make a number uncertain, or one of several.
VAGUE: Final = word_set(
    "few several some many couple between more less least than over under "
    "paar wenige einige viele mehrere zwischen mehr weniger mindestens "
    "varios varias algunos algunas pocos pocas muchos muchas entre mas menos "
    "quelques plusieurs beaucoup peu plus moins "
    "alguns algumas poucos poucas muitos muitas mais"
)
CHOOSING: Final = word_set("or to oder bis o u ou")
# Words inside a spoken number.
JOINING: Final = word_set("and und y e et")

# Countries that write decimals with a point although their language here suggests a comma, and the other way round.
POINT_COUNTRIES: Final = word_set(
    "US GB IE AU NZ CA IN PK BD LK SG MY PH HK CN JP KR TW TH IL NG KE GH UG TZ ZW BW MX GT HN NI SV PA PR DO CH LI"
)
COMMA_COUNTRIES: Final = word_set(
    "DE AT ES FR IT PT BR NL BE PL CZ SK DK SE NO FI GR RO HU BG HR SI RS UA RU TR AR CL CO EC PE UY PY BO VE CU ZA MA "
    "DZ TN AO MZ ID VN"
)


def known_languages(languages: Iterable[str]) -> tuple[str, ...]:
    """Return those of the languages that have words here, such as `pt` for `pt-BR`. Without any, English."""
    codes = (code.lower().replace("_", "-").partition("-")[0] for code in languages)
    return tuple(dict.fromkeys(code for code in codes if code in KNOWN)) or ("en",)


def decimal_sign(country: str, languages: Iterable[str]) -> str:
    """Return the sign before decimals where the contact lives, or in the first language."""
    if country in POINT_COUNTRIES:
        return "."
    if country in COMMA_COUNTRIES:
        return ","
    return "." if known_languages(languages)[0] == "en" else ","


def _counted(code: str) -> dict[str, int]:
    words = {normalized(word): value for word, value in zip(_COUNTED[code].split(), _VALUES, strict=True)}
    further = {normalized(word): value for word, value in _FURTHER[code].items()}
    if code == "de":
        units = {word: value for word, value in words.items() if 2 <= value <= 9} | {"ein": 1}
        tens = {word: value for word, value in words.items() if 20 <= value <= 90}
        further |= {f"{unit}und{ten}": one + many for unit, one in units.items() for ten, many in tens.items()}
    if code == "es":
        further |= {f"veinti{unit}": 20 + value for unit, value in words.items() if 2 <= value <= 9} | {"veintiuno": 21}
    return words | further


NUMBER_WORDS: Final[Mapping[str, Mapping[str, int]]] = {code: _counted(code) for code in KNOWN}
ARTICLES: Final[Mapping[str, frozenset[str]]] = {code: frozenset(words.split()) for code, words in _ARTICLES.items()}
ORDINALS: Final[Mapping[str, tuple[str, ...]]] = {
    code: tuple(normalized(word) for word in words) for code, words in _ORDINALS.items()
}

"""The words for dates and times in each language, each with the kind of token that it is for `answer_dates`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from workspaces.automations.execution.languages.normalization import normalized, words_of
from workspaces.automations.execution.languages.numbers import ARTICLES, NUMBER_WORDS, ORDINALS


class Token(NamedTuple):
    """A part of an answer. `kind` is one of the letters below, `value` what it stands for.

    A written date has its `numbers` in their order, with the `sign` between them. The value of a written time is in
    minutes; its sign is "am", "pm", "exact" (`15:00`) or "hour" (`15 Uhr`).
    """

    kind: str
    value: int = 0
    numbers: tuple[int, ...] = ()
    sign: str = ""


FULL_DATE, SHORT_DATE, CLOCK, NUMBER, YEAR, ORDINAL = "D", "S", "T", "N", "Y", "O"
MONTH, WEEKDAY, RELATIVE_DAY, NEXT, COMING, NEXT_WEEK = "M", "W", "R", "X", "K", "w"
UNIT, ONE_DAY, IN, AGO, AT, O_CLOCK, NOON, PART, DAY, FILLER = "U", "V", "I", "G", "A", "u", "Z", "p", "d", ""
MINUTES_FIRST, MINUTES_LAST = "h", "m"
# The parts of a day.
MORNING, AFTERNOON, NIGHT = range(3)
DAYS, WEEKS, MONTHS = range(3)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MONTH_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "en": _names("January February March April May June July August September October November December"),
    "de": _names("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    "es": _names("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    "fr": _names("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    "pt": _names("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
}
WEEKDAY_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "en": _names("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    "de": _names("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag"),
    "es": _names("lunes martes miércoles jueves viernes sábado domingo"),
    "fr": _names("lundi mardi mercredi jeudi vendredi samedi dimanche"),
    "pt": _names("segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo"),
}
# Other spellings, with the number of the month, or of the day from Monday = 0. Short forms that mean something else in
# the same language (`mar`, `so`, `set`) are left out.
_MONTHS = {
    "en": "1 jan, 2 feb, 3 mar, 4 apr, 6 jun, 7 jul, 8 aug, 9 sep, 9 sept, 10 oct, 11 nov, 12 dec",
    "de": "1 jan, 1 jänner, 2 feb, 2 feber, 3 mär, 3 mrz, 3 maerz, 4 apr, 6 jun, 6 juno, 7 jul, 7 julei, 8 aug, 9 "
    "sep, 9 sept, 10 okt, 11 nov, 12 dez",
    "es": "1 ene, 2 feb, 4 abr, 6 jun, 7 jul, 8 ago, 9 sep, 9 sept, 9 setiembre, 10 oct, 11 nov, 12 dic",
    "fr": "1 janv, 2 févr, 2 fév, 4 avr, 7 juil, 9 sept, 10 oct, 11 nov, 12 déc",
    "pt": "1 jan, 2 fev, 4 abr, 6 jun, 7 jul, 8 ago, 10 out, 11 nov, 12 dez",
}
_WEEKDAYS = {
    "en": "0 mon, 1 tue, 1 tues, 2 wed, 3 thu, 3 thur, 3 thurs, 4 fri, 5 sat, 6 sun",
    "de": "5 Sonnabend",
    "es": "0 lun, 2 mié, 3 jue, 4 vie, 5 sáb, 6 dom",
    "fr": "0 lun, 2 mer, 3 jeu, 4 ven, 5 sam, 6 dim",
    "pt": "0 segunda, 1 terça, 2 quarta, 3 quinta, 4 sexta, 0 seg, 1 ter, 2 qua, 3 qui, 4 sex, 5 sáb, 6 dom",
}
_RELATIVE_DAYS = {
    "en": "0 today, 1 tomorrow, 1 tmrw, 1 tomorow, 1 tommorow, 1 tommorrow, 2 day after tomorrow, 2 the day after "
    "tomorrow, -1 yesterday, -2 day before yesterday, 7 in a week, 7 a week from today, 7 a week from now",
    "de": "0 heute, 1 morgen, 2 übermorgen, 2 uebermorgen, -1 gestern, -2 vorgestern, 7 in einer woche, 7 heute in "
    "einer woche",
    "es": "0 hoy, 1 mañana, 2 pasado mañana, -1 ayer, -2 anteayer, -2 antier, 7 en una semana, 7 dentro de una semana",
    "fr": "0 aujourd hui, 1 demain, 2 après demain, -1 hier, -2 avant hier, 7 dans une semaine",
    "pt": "0 hoje, 1 amanhã, 2 depois de amanhã, -1 ontem, -2 anteontem, 7 em uma semana, 7 daqui a uma semana, 7 "
    "daqui uma semana",
}
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    NEXT: {"en": "next", "de": "nächste, nächsten, nächster, nächstes, naechsten, naechste"},
    COMING: {
        "en": "this, coming, this coming",
        "de": "kommenden, kommende, kommender, kommendes, diesen, diese, dieser, dieses",
        "es": "este, esta, próximo, próxima, que viene, que viene el, siguiente",
        "fr": "ce, cet, cette, prochain, prochaine, qui vient",
        "pt": "este, esta, próximo, próxima, nesta, neste, que vem, na próxima, no próximo, desta, deste",
    },
    NEXT_WEEK: {
        "en": "next week, of next week",
        "de": "nächste woche, kommende woche, der nächsten woche, naechste woche",
        "es": "la próxima semana, de la próxima semana, la semana que viene, de la semana que viene, próxima semana, "
        "semana que viene, la semana próxima, de la semana próxima",
        "fr": "la semaine prochaine, de la semaine prochaine, semaine prochaine",
        "pt": "próxima semana, na próxima semana, da próxima semana, semana que vem, da semana que vem, na semana que "
        "vem",
    },
    IN: {"en": "in", "de": "in", "es": "en, dentro de", "fr": "dans", "pt": "em, daqui a, daqui, dentro de"},
    AGO: {"en": "ago", "de": "vor", "es": "hace", "fr": "il y a", "pt": "há, atrás"},
    AT: {
        "en": "at, around, about, approx",
        "de": "um, gegen, ca, etwa, zirka",
        "es": "a las, a la, sobre las, hacia las, a eso de las",
        "fr": "à, vers, vers les",
        "pt": "às, à, as, por volta das, lá pelas, pelas",
    },
    O_CLOCK: {
        "en": "o clock, oclock",
        "de": "uhr",
        "es": "hora, horas, en punto",
        "fr": "heure, heures",
        "pt": "hora, horas, em ponto",
    },
    NOON: {
        "en": "noon, midday, at noon, at midday",
        "de": "mittags, mittag, zu mittag, zwölf uhr mittags",
        "es": "mediodía, al mediodía, a mediodía",
        "fr": "midi, à midi",
        "pt": "meio dia, ao meio dia",
    },
    DAY: {
        "en": "on, the, on the",
        "de": "am, den, der, dem, an",
        "es": "el, del",
        "fr": "le, au",
        "pt": "na, no, o, a, ao",
    },
    # "A day", and also "the day" before its number.
    ONE_DAY: {"en": "day", "de": "tag", "es": "día", "fr": "jour", "pt": "dia"},
    FILLER: {
        "en": "of, and, please, thanks, thank you, hi, hello, i, we, d, ll, m, would, like, want, to, can, could, "
        "come, be, maybe, perhaps, let, s, it, is, its, my, was, born, birthday, for, yes, ok, okay, sure, prefer, "
        "in the, a, appointment, book, works, good, best, better, time, sharp, from, date, an, me, suits, us, you, "
        "exactly, hrs",
        "de": "bitte, danke, hallo, ich, wir, möchte, moechte, will, würde, gern, gerne, hätte, kann, könnte, kommen, "
        "geht, passt, ginge, es, mir, uns, ja, ok, okay, gut, termin, einen, mein, geburtstag, ist, war, geboren, "
        "für, und, vielleicht, lieber, am besten, besser, des, dann, so, genau, wäre, bin, habe, zeit, nehme, von, "
        "zum",
        "es": "de, y, por favor, gracias, hola, yo, quiero, quisiera, puedo, podría, prefiero, me, gustaría, para, "
        "sí, ok, vale, sería, es, mi, cumpleaños, nací, cita, una, un, ir, venir, mejor, está bien, bien, puede ser, "
        "fecha, los",
        "fr": "de, et, s il vous plaît, s il te plaît, merci, bonjour, je, nous, voudrais, veux, peux, préfère, "
        "aimerais, pour, oui, ok, d accord, serait, est, c est, mon, anniversaire, né, née, suis, rendez vous, "
        "venir, plutôt, mieux, peut être, si possible, un, une, les, svp, stp, l, date",
        "pt": "de, e, por favor, obrigado, obrigada, olá, oi, eu, quero, queria, gostaria, posso, prefiro, pode ser, "
        "para, sim, ok, seria, é, meu, aniversário, nasci, consulta, uma, um, ir, vir, melhor, está bem, tudo bem, "
        "talvez, data, me, do, da",
    },
}
_UNITS = {
    "en": "0 days, 1 week, 1 weeks, 2 month, 2 months",
    "de": "0 tage, 0 tagen, 1 woche, 1 wochen, 2 monat, 2 monate, 2 monaten",
    "es": "0 días, 1 semana, 1 semanas, 2 mes, 2 meses",
    "fr": "0 jours, 1 semaine, 1 semaines, 2 mois",
    "pt": "0 dias, 1 semana, 1 semanas, 2 mês, 2 meses",
}
_PARTS = {
    "en": "0 morning, 0 in the morning, 0 am, 1 afternoon, 1 in the afternoon, 1 pm, 1 evening, 1 in the evening, 2 "
    "night, 2 at night, 2 in the night",
    "de": "0 morgens, 0 früh, 0 am morgen, 0 in der früh, 0 vormittag, 0 vormittags, 0 am vormittag, 1 nachmittag, 1 "
    "nachmittags, 1 am nachmittag, 1 abend, 1 abends, 1 am abend, 2 nachts, 2 in der nacht",
    "es": "0 de la mañana, 0 por la mañana, 0 en la mañana, 1 de la tarde, 1 por la tarde, 1 en la tarde, 1 tarde, 2 "
    "de la noche, 2 por la noche, 2 en la noche, 2 noche, 0 temprano",
    "fr": "0 du matin, 0 le matin, 0 matin, 0 au matin, 1 de l après midi, 1 l après midi, 1 après midi, 1 du soir, 1 "
    "le soir, 1 soir, 1 au soir, 2 de la nuit, 2 la nuit",
    "pt": "0 da manhã, 0 de manhã, 0 pela manhã, 0 cedo, 1 da tarde, 1 de tarde, 1 à tarde, 1 pela tarde, 2 da noite, "
    "2 de noite, 2 à noite, 2 pela noite",
}
# Today with a part of the day.
_TODAYS = {
    "en": "1 tonight, 0 this morning, 1 this afternoon, 1 this evening",
    "de": "0 heute früh, 0 heute morgen",
    "es": "2 esta noche, 1 esta tarde, 0 esta mañana",
    "fr": "1 ce soir, 0 ce matin, 1 cet après midi",
    "pt": "2 esta noite, 2 hoje à noite, 1 esta tarde, 1 hoje à tarde",
}
# Minutes before or after the hour that comes next, and after the hour that was named before.
_MINUTES_FIRST = {
    "en": "30 half past, 15 quarter past, 15 a quarter past, -15 quarter to, -15 a quarter to",
    "de": "-30 halb, 15 viertel nach, -15 viertel vor",
    "pt": "-15 quinze para as",
}
_MINUTES_LAST = {
    "es": "30 y media, 15 y cuarto, -15 menos cuarto",
    "fr": "30 et demie, 30 et demi, 15 et quart, -15 moins le quart",
    "pt": "30 e meia, 15 e quinze",
}
# One o'clock, where the word for one is also an article.
_AT_ONE = {
    "de": "um eins",
    "es": "a la una, sobre la una, hacia la una",
    "fr": "à une heure, vers une heure",
    "pt": "à uma, à uma hora",
}
LONGEST_PHRASE: Final = 6
# No month has more days.
MOST_DAYS: Final = 31


def _numbered(text: str) -> Iterator[tuple[str, int]]:
    for part in filter(None, text.split(", ")):
        number, _, phrase = part.partition(" ")
        yield phrase, int(number)


def _key(phrase: str) -> str:
    return " ".join(words_of(normalized(phrase)))


_NUMBERED: Final[Sequence[tuple[str, Mapping[str, str]]]] = (
    (MONTH, _MONTHS),
    (WEEKDAY, _WEEKDAYS),
    (RELATIVE_DAY, _RELATIVE_DAYS),
    (UNIT, _UNITS),
    (PART, _PARTS),
    (MINUTES_FIRST, _MINUTES_FIRST),
    (MINUTES_LAST, _MINUTES_LAST),
)


def _phrases_of(code: str) -> Iterator[tuple[str, tuple[Token, ...]]]:
    """Give a language's phrases, the most general first: later ones replace earlier ones."""
    yield from _spoken_numbers(code)
    for kind, words in _WORDS.items():
        for phrase in filter(None, words.get(code, "").split(", ")):
            yield phrase, (Token(kind),) if kind else ()
    for kind, numbered in _NUMBERED:
        yield from ((phrase, (Token(kind, number),)) for phrase, number in _numbered(numbered.get(code, "")))
    yield from ((phrase, (Token(RELATIVE_DAY), Token(PART, part))) for phrase, part in _numbered(_TODAYS[code]))
    yield from ((phrase, (Token(AT), Token(NUMBER, 1))) for phrase in _AT_ONE.get(code, "").split(", "))
    yield from ((name, (Token(MONTH, number),)) for number, name in enumerate(MONTH_NAMES[code], 1))
    yield from ((name, (Token(WEEKDAY, number),)) for number, name in enumerate(WEEKDAY_NAMES[code]))


def _spoken_numbers(code: str) -> Iterator[tuple[str, tuple[Token, ...]]]:
    for word, value in NUMBER_WORDS[code].items():
        if value <= MOST_DAYS and word not in ARTICLES[code]:
            yield word, (Token(NUMBER, value),)
    for position, word in enumerate(ORDINALS[code] if code in ("en", "de") else ORDINALS[code][:1], 1):
        yield from ((word + ending, (Token(ORDINAL, position),)) for ending in ("", "n" if code == "de" else ""))


@lru_cache(maxsize=64)
def phrases_in(languages: tuple[str, ...]) -> Mapping[str, tuple[Token, ...]]:
    """Return the tokens of each phrase in several languages. Where two disagree, the first language decides."""
    found: dict[str, tuple[Token, ...]] = {}
    for code in reversed(languages):
        found |= {_key(phrase): tokens for phrase, tokens in _phrases_of(code)}
    return found

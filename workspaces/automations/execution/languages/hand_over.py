"""The words with which a contact asks for a person instead of an automation, in each language."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from workspaces.automations.execution.languages.normalization import normalized, words_of

MOST_CHARACTERS: Final = 80
MOST_WORDS: Final = 12


class _Language(NamedTuple):
    """`people` ask for a person even alone. `verbs` make the others of `persons` a wish. `fillers` may stand beside."""

    people: frozenset[str]
    persons: frozenset[str]
    verbs: frozenset[str]
    fillers: frozenset[str]


def _language(people: str, persons: str, verbs: str, fillers: str) -> _Language:
    alone, others, speaking, beside = (
        frozenset(words_of(normalized(one))) for one in (people, persons, verbs, fillers)
    )
    return _Language(alone, alone | others, speaking, beside)


# "A person" alone is no wish: it also answers the question for how many people a table is.
LANGUAGES: Final = {
    "en": _language(
        "human agent operator representative person",
        "someone somebody staff adviser advisor employee team",
        "talk speak chat connect transfer reach contact",
        "i d we want wanna need would like to with a an the please can could may you me let real live now actual",
    ),
    "de": _language(
        "mensch mitarbeiter mitarbeiterin berater beraterin kundenberater menschen",
        "jemand jemandem jemanden person ansprechpartner team personal",
        "sprechen reden verbinden verbinde verbindet chatten kontaktieren",
        "ich wir will möchte moechte mag würde kann können gerne gern bitte mit einem einer einen ein eine den der die "
        "echten echter echte echtem mich mir sie du jetzt zu",
    ),
    "es": _language(
        "persona humano humana agente asesor asesora operador operadora representante",
        "alguien empleado ejecutivo ejecutiva equipo",
        "hablar hablo chatear comunicar comunicarme contactar conectar pasar pasarme pásame comunícame conéctame",
        "yo quiero quisiera necesito puedo podría me gustaría por favor con un una el la real ahora a",
    ),
    "fr": _language(
        "humain humaine conseiller conseillère agent opérateur opératrice",
        "quelqu un personne employé représentant équipe",
        "parler discuter joindre contacter échanger connecter transférer",
        "je j nous veux voudrais aimerais souhaite peux puis pouvez vous moi me s il te plaît svp à a avec un une le "
        "la vrai vraie réel réelle maintenant",
    ),
    "pt": _language(
        "humano humana atendente agente pessoa operador operadora",
        "alguém funcionário consultor consultora representante equipe equipa",
        "falar conversar contatar contactar conectar transferir transfere chamar",
        "eu quero queria gostaria preciso posso poderia me de com um uma o a por favor real verdade agora",
    ),
}


def asks_for_people(text: str, languages: Iterable[str]) -> bool:
    """Say whether a whole message asks for a person, in one of the languages or in English."""
    if len(text) > MOST_CHARACTERS:
        return False
    words = words_of(normalized(text))
    if not 0 < len(words) <= MOST_WORDS:
        return False
    said = set(words)
    return any(_asks(said, language) for language in _languages(tuple(languages)))


@lru_cache(maxsize=1_024)
def _languages(codes: tuple[str, ...]) -> tuple[_Language, ...]:
    wanted = {"en", *(code.lower().partition("-")[0].partition("_")[0] for code in codes)}
    return tuple(LANGUAGES[code] for code in sorted(wanted & LANGUAGES.keys()))


def _asks(words: set[str], language: _Language) -> bool:
    if len(words) == 1:
        return bool(words & language.people)
    has_all = bool(words & language.persons) and bool(words & language.verbs)
    return has_all and words <= language.persons | language.verbs | language.fillers

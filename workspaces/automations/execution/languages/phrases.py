"""The words for yes and no, and those that ask for a person instead of an automation, in each language."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from workspaces.automations.execution.languages.normalization import normalized, words_of


class Replies(NamedTuple):
    """Words and phrases as tuples of words. `negations` make any other answer uncertain."""

    yes: frozenset[tuple[str, ...]]
    no: frozenset[tuple[str, ...]]
    fillers: frozenset[str]
    negations: frozenset[str]


# Phrases stand between commas.
_YES = {
    "en": "yes, y, yeah, yea, yep, yup, yess, yes i do, yes i agree, ok, okay, okey, k, sure, of course, absolutely, "
    "definitely, certainly, i agree, agreed, agree, i accept, accept, accepted, fine, alright, all right, sounds "
    "good, that works, works for me, no problem, why not, go ahead, correct, right, true, perfect, great, good, "
    "please do, i do, i would, i confirm, confirm, confirmed",
    "de": "ja, j, jo, jep, jap, jawohl, jaa, joa, ok, okay, klar, na klar, natürlich, gerne, gern, sicher, "
    "selbstverständlich, auf jeden fall, unbedingt, einverstanden, ich bin einverstanden, passt, das passt, stimmt, "
    "richtig, korrekt, in ordnung, geht klar, kein problem, warum nicht, gut, sehr gut, perfekt, super, zustimmen, "
    "ich stimme zu, ich akzeptiere, akzeptiert, bestätigt, ich bestätige, von mir aus, gebongt",
    "es": "sí, s, sip, claro, claro que sí, por supuesto, desde luego, ok, okay, vale, dale, de acuerdo, está bien, "
    "bueno, bien, perfecto, correcto, exacto, acepto, aceptar, estoy de acuerdo, confirmo, confirmado, sin problema, "
    "no hay problema, por qué no, cómo no, seguro, adelante, genial, me parece bien, así es",
    "fr": "oui, o, ouais, ouai, ouep, si, bien sûr, certainement, absolument, évidemment, volontiers, ok, okay, d "
    "accord, je suis d accord, c est bon, ça marche, ça me va, parfait, correct, exact, j accepte, accepter, je "
    "confirme, confirmé, pas de problème, aucun problème, pourquoi pas, entendu, vas y, allez y, très bien, avec "
    "plaisir",
    "pt": "sim, s, claro, claro que sim, com certeza, ok, okay, tá, tá bom, tá bem, está bem, está bom, beleza, blz, "
    "aceito, aceitar, concordo, estou de acordo, de acordo, certo, correto, exato, perfeito, pode ser, pode, isso, "
    "isso mesmo, confirmo, confirmado, sem problema, não há problema, por que não, bom, ótimo, quero, quero sim",
}
_NO = {
    "en": "no, n, nope, nah, noo, never, i don t agree, i don t want to, i don t accept, no way, not now, not really, "
    "not today, not interested, i do not, i don t, i do not agree, i disagree, disagree, decline, i decline, "
    "declined, rather not, i d rather not, wrong, incorrect, false, absolutely not, of course not, definitely not, "
    "no i don t, i refuse, no need, later",
    "de": "nein, n, nö, nee, ne, niemals, nie, auf keinen fall, keinesfalls, lieber nicht, jetzt nicht, nicht jetzt, "
    "heute nicht, kein interesse, ich möchte nicht, ich will nicht, ablehnen, ich lehne ab, abgelehnt, falsch, "
    "natürlich nicht, eher nicht, nicht einverstanden, ich bin nicht einverstanden, bitte nicht, nein danke, später",
    "es": "no, n, nop, nunca, jamás, claro que no, por supuesto que no, ahora no, de ninguna manera, para nada, hoy "
    "no, no quiero, no acepto, rechazo, rechazar, no estoy de acuerdo, no me interesa, incorrecto, mejor no, más "
    "tarde",
    "fr": "non, n, nan, jamais, bien sûr que non, pas maintenant, pas du tout, pas question, je refuse, refuser, "
    "plutôt pas, je ne veux pas, je n accepte pas, je ne suis pas d accord, pas d accord, pas intéressé, pas "
    "intéressée, faux, incorrect, certainement pas, absolument pas, plus tard",
    "pt": "não, n, nao, nunca, jamais, claro que não, de jeito nenhum, de modo nenhum, agora não, hoje não, não "
    "quero, não aceito, recuso, recusar, não concordo, não tenho interesse, não me interessa, errado, incorreto, "
    "melhor não, mais tarde",
}
_FILLERS = {
    "en": "please thanks thank you thx ty very much hi hello the a an i d we like want would to take have choose pick "
    "prefer option number nr one it is my for me that s this let go with and so well",
    "de": "bitte danke vielen dank schön hallo der die das den ein eine einen ich wir möchte will hätte nehme gerne "
    "gern option nummer nr es ist für mich das und also dann lieber",
    "es": "por favor gracias muchas hola el la los las un una yo me quiero quisiera prefiero elijo opción número nro "
    "es para mí y pues entonces señor señora",
    "fr": "s il vous te plaît svp stp merci beaucoup bonjour le la les un une je j veux voudrais prends préfère "
    "choisis option numéro c est pour moi et alors madame monsieur",
    "pt": "por favor obrigado obrigada muito olá oi o a os as um uma eu quero queria prefiro escolho opção número é "
    "para mim e então senhor senhora",
}
_NEGATIONS = {
    "en": "no not don t dont never neither without except but unless cannot cant",
    "de": "nein nicht kein keine keinen nie niemals ohne außer aber weder",
    "es": "no ni nunca sin excepto pero tampoco",
    "fr": "non pas ni jamais sans sauf mais aucun aucune",
    "pt": "não nem nunca sem exceto mas",
}
# Signs that mean the same everywhere.
_YES_SIGNS = "\U0001f44d\u2705\u2714\u2611\U0001f44c\U0001f197"
_NO_SIGNS = "\U0001f44e\u274c\u2716\u274e\U0001f6ab"
LONGEST_PHRASE: Final = 6


def _phrases(text: str) -> set[tuple[str, ...]]:
    return {tuple(words_of(normalized(phrase))) for phrase in text.split(",")}


@lru_cache(maxsize=64)
def replies_in(languages: Sequence[str]) -> Replies:
    """Return the words of several languages together. A word that means yes in one and no in another means neither."""
    yes: set[tuple[str, ...]] = {(sign,) for sign in _YES_SIGNS}
    no: set[tuple[str, ...]] = {(sign,) for sign in _NO_SIGNS}
    fillers: set[str] = set()
    negations: set[str] = set()
    for code in languages:
        yes |= _phrases(_YES[code])
        no |= _phrases(_NO[code])
        fillers.update(words_of(normalized(_FILLERS[code])))
        negations.update(words_of(normalized(_NEGATIONS[code])))
    both = yes & no
    return Replies(frozenset(yes - both), frozenset(no - both), frozenset(fillers), frozenset(negations))


# Asking for a person -------------------------------------------------------------------------------


MOST_CHARACTERS: Final = 80
MOST_WORDS: Final = 12


class _HandOverVocabulary(NamedTuple):
    """`people` ask for a person even alone. `verbs` make the others of `persons` a wish. `fillers` may stand beside."""

    people: frozenset[str]
    persons: frozenset[str]
    verbs: frozenset[str]
    fillers: frozenset[str]


def _language(people: str, persons: str, verbs: str, fillers: str) -> _HandOverVocabulary:
    alone, others, speaking, beside = (
        frozenset(words_of(normalized(one))) for one in (people, persons, verbs, fillers)
    )
    return _HandOverVocabulary(alone, alone | others, speaking, beside)


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
def _languages(codes: tuple[str, ...]) -> tuple[_HandOverVocabulary, ...]:
    wanted = {"en", *(code.lower().partition("-")[0].partition("_")[0] for code in codes)}
    return tuple(LANGUAGES[code] for code in sorted(wanted & LANGUAGES.keys()))


def _asks(words: set[str], language: _HandOverVocabulary) -> bool:
    if len(words) == 1:
        return bool(words & language.people)
    has_all = bool(words & language.persons) and bool(words & language.verbs)
    return has_all and words <= language.persons | language.verbs | language.fillers

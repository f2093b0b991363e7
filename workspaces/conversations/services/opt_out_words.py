"""Which whole messages ask to be left alone, and which take that back."""

import re
import unicodedata
from collections.abc import Collection

from workspaces.conversations.models import ConversationSettings

# Not CANCEL or END, which customers say of appointments.
OPT_OUT = frozenset({"stop", "stopall", "unsubscribe", "revoke", "opt out", "optout"})
OPT_IN = frozenset({"start", "unstop"})
LONGEST = 60
# Quotation marks of any language, and the marks with which messengers make a word bold or slanted.
QUOTES = "\"'`\u00b4\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\uff02\uff07*_~"
AROUND = re.compile(rf"\A[\s{QUOTES}]+|[\s.!?,;:。{QUOTES}]+\Z")
SPACES = re.compile(r"[\s\-\u2010-\u2015\u2212]+")


def opt_out_key(text: str) -> str:
    """Give the form in which such words are compared: without case, quotes and final punctuation.

    Dashes count as spaces, and several of them as one.
    """
    # Some marks are no longer what they were once they are normalised, others become one.
    folded = unicodedata.normalize("NFKC", AROUND.sub("", text)).casefold()
    return SPACES.sub(" ", AROUND.sub("", folded)).strip()


def keys_of(*texts: str) -> set[str]:
    """Give the keys of what could be such a word: nothing that is longer than any of them."""
    return {opt_out_key(text) for text in texts if 0 < len(text) <= LONGEST}


def own_words(workspaces: Collection[int]) -> dict[int, frozenset[str]]:
    """Give the words that these workspaces have chosen for themselves, as keys, in one statement."""
    rows = ConversationSettings.objects.filter(pk__in=workspaces).values_list("pk", "opt_out_words")
    return {pk: frozenset(map(opt_out_key, words)) for pk, words in rows}

"""The words that opt a contact out or in, if they are the whole message."""

import re
import unicodedata
from collections.abc import Collection

from workspaces.conversations.models import ConversationSettings

# CANCEL and END are left out, because customers use them about appointments.
OPT_OUT = frozenset({"stop", "stopall", "unsubscribe", "revoke", "opt out", "optout"})
OPT_IN = frozenset({"start", "unstop"})
LONGEST = 60
# Quotation marks of any language, and the marks by which messengers format a word as bold or italic.
QUOTES = "\"'`\u00b4\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\uff02\uff07*_~"
AROUND = re.compile(rf"\A[\s{QUOTES}]+|[\s.!?,;:。{QUOTES}]+\Z")
SPACES = re.compile(r"[\s\-\u2010-\u2015\u2212]+")


def opt_out_key(text: str) -> str:
    """Return a word in the form used for comparison: without case, quotes and final punctuation.

    A run of dashes and spaces becomes one space.
    """
    # Strip before and after: normalising turns some marks into other characters, and others into such marks.
    folded = unicodedata.normalize("NFKC", AROUND.sub("", text)).casefold()
    return SPACES.sub(" ", AROUND.sub("", folded)).strip()


def keys_of(*texts: str) -> set[str]:
    """Return the keys of the texts that are short enough to be such a word."""
    return {opt_out_key(text) for text in texts if 0 < len(text) <= LONGEST}


def own_words(workspaces: Collection[int]) -> dict[int, frozenset[str]]:
    """Return the opt-out words that these workspaces have set, as keys, in one statement."""
    rows = ConversationSettings.objects.filter(pk__in=workspaces).values_list("pk", "opt_out_words")
    return {pk: frozenset(map(opt_out_key, words)) for pk, words in rows}

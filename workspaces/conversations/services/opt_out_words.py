"""Which whole messages ask to be left alone, and which take that back."""

import re
import unicodedata
from collections.abc import Collection

from workspaces.conversations.models import ConversationSettings

# Not CANCEL or END, which customers say of appointments.
OPT_OUT = frozenset({"stop", "stopall", "unsubscribe", "revoke", "opt out"})
OPT_IN = frozenset({"start", "unstop"})
LONGEST = 60
FINAL_PUNCTUATION = re.compile(r"[\s.!?,;:。]+\Z")
SPACES = re.compile(r"\s+")


def opt_out_key(text: str) -> str:
    """Give the form in which such words are compared: without case, final punctuation, and more than one space."""
    folded = unicodedata.normalize("NFKC", text.strip()).casefold()
    return SPACES.sub(" ", FINAL_PUNCTUATION.sub("", folded))


def keys_of(*texts: str) -> set[str]:
    """Give the keys of what could be such a word: nothing that is longer than any of them."""
    return {opt_out_key(text) for text in texts if 0 < len(text) <= LONGEST}


def own_words(workspaces: Collection[int]) -> dict[int, frozenset[str]]:
    """Give the words that these workspaces have chosen for themselves, as keys, in one statement."""
    rows = ConversationSettings.objects.filter(pk__in=workspaces).values_list("pk", "opt_out_words")
    return {pk: frozenset(map(opt_out_key, words)) for pk, words in rows}

"""Finds keywords in texts with small typing mistakes, for triggers that ask for it.

Two words with few edits between them have a form in common, from which letters were left out. A dictionary leads from
all such forms of the keywords' words to these words. All work and memory is bounded, whatever keywords people set up
and whatever they write.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, Generic, NamedTuple, TypeVar

Owner = TypeVar("Owner")

# Shorter words must be right: too many words are one letter away from them.
SHORTEST: Final = 5
# One edit is allowed, and two in words from this length on.
TWO_EDITS_FROM: Final = 9
# A workspace keeps so many forms. The words of younger automations beyond it must be right.
MOST_FORMS: Final = 20_000
MOST_WORDS_OF_FORM: Final = 8
# So many words are compared with one word of a text, and so many keywords are tried on one text.
MOST_COMPARED: Final = 40
MOST_TRIED: Final = 5_000


class KeywordPhrase(NamedTuple, Generic[Owner]):
    """A keyword of several words, or one, with its mode and the trigger that it belongs to."""

    words: tuple[str, ...]
    mode: int
    owner: Owner


def edits_allowed(word: str) -> int:
    """Return how many edits a word of a keyword may have in a text."""
    if len(word) < SHORTEST or not word.isalpha():
        return 0
    return 1 if len(word) < TWO_EDITS_FROM else 2


def is_within(one: str, other: str, edits: int) -> bool:
    """Say whether so many insertions, deletions, replacements and swaps of neighbours turn one word into another."""
    at = 0
    while at < len(one) and at < len(other) and one[at] == other[at]:
        at += 1
    one, other = one[at:], other[at:]
    if one == other or not edits or abs(len(one) - len(other)) > edits:
        return one == other
    return (
        is_within(one[1:], other[1:], edits - 1)
        or is_within(one[1:], other, edits - 1)
        or is_within(one, other[1:], edits - 1)
        or (one[:2] == other[1::-1] and is_within(one[2:], other[2:], edits - 1))
    )


def _forms(word: str, edits: int) -> Iterator[str]:
    """Give the word itself, and the word without each choice of so many letters."""
    yield word
    for count in range(1, edits + 1):
        for kept in combinations(word, len(word) - count):
            yield "".join(kept)


class FuzzyKeywords(Generic[Owner]):
    """Keywords that are found with typing mistakes. It keeps `size` forms, at most `room`."""

    __slots__ = ("_by_first", "_forms", "_longest", "_most_edits", "size")

    def __init__(self, keywords: Iterable[KeywordPhrase[Owner]], *, room: int) -> None:
        self._by_first: dict[str, list[KeywordPhrase[Owner]]] = defaultdict(list)
        self._forms: dict[str, list[str]] = defaultdict(list)
        self._longest = self._most_edits = self.size = 0
        known = set[str]()
        for keyword in keywords:
            for word in keyword.words:
                if word not in known:
                    known.add(word)
                    self._add_word(word, room)
            self._by_first[keyword.words[0]].append(keyword)

    def _add_word(self, word: str, room: int) -> None:
        edits = edits_allowed(word)
        forms = set(_forms(word, edits)) if edits else set()
        if not forms or self.size + len(forms) > room:
            return
        self.size += len(forms)
        self._longest, self._most_edits = max(self._longest, len(word)), max(self._most_edits, edits)
        for form in forms:
            if len(self._forms[form]) < MOST_WORDS_OF_FORM:
                self._forms[form].append(word)

    def found_in(self, words: Sequence[str]) -> Iterator[tuple[KeywordPhrase[Owner], int]]:
        """Give the keywords that a text has with its mistakes or without, with the places where they begin."""
        meant = {word: self._meant_by(word) for word in set(words)}
        tried = 0
        for at, word in enumerate(words):
            for first in meant[word]:
                for keyword in self._by_first.get(first, ()):
                    tried += 1
                    if tried > MOST_TRIED:
                        return
                    if _stands_at(keyword.words, words, at, meant):
                        yield keyword, at

    def _meant_by(self, word: str) -> set[str]:
        """Give the words of keywords that a word of a text may stand for, with itself."""
        meant = {word}
        if not SHORTEST <= len(word) <= self._longest + self._most_edits or not word.isalpha():
            return meant
        compared = set[str]()
        for form in _forms(word, self._most_edits):
            for known in self._forms.get(form, ()):
                if known not in compared and len(compared) < MOST_COMPARED:
                    compared.add(known)
                    if is_within(word, known, edits_allowed(known)):
                        meant.add(known)
        return meant


def _stands_at(keyword: Sequence[str], words: Sequence[str], at: int, meant: dict[str, set[str]]) -> bool:
    if at + len(keyword) > len(words):
        return False
    return all(wanted in meant[words[at + number]] for number, wanted in enumerate(keyword))

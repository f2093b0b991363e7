"""Finds the automations that a text or another fact starts, among all automations of a workspace.

The triggers of a workspace are compiled once and then asked for each message. A keyword is found as whole words: a
dictionary leads from each word of the text to the keywords that begin with it. In scripts without spaces each character
counts as a word, so the same search finds keywords anywhere in the text. Its work is bounded by the text's words times
the different lengths of keywords that begin with one word.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Final, NamedTuple

from config.db import name_key
from workspaces.automations.execution.languages.normalization import normalized, words_of
from workspaces.automations.execution.typing_mistakes import MOST_FORMS, FuzzyKeywords, KeywordPhrase, edits_allowed

# So many characters of a text are compared with keywords.
MOST_TEXT: Final = 500
# Numbers and strings of a trigger's configuration that narrow it. A fact matches by its `subject`.
NARROWED_BY: Final = {
    "comment_keyword": "post",
    "any_comment": "post",
    "ad_click": "ad",
    "tag_added": "tag",
    "form_sent": "form",
    "contact_inactive": "days",
    "appointment_near": "hours",
    "cart_abandoned": "hours",
    "review_received": "stars",
}
KEYWORD_TYPES: Final = ("keyword", "comment_keyword")
# The ways in which a keyword matches, the strictest first.
MODES: Final = ("exact", "starts_with", "contains")
EXACT, STARTS_WITH, CONTAINS = range(len(MODES))
# Reviews with so many stars are high, those with fewer low.
GOOD_STARS: Final = 4


@dataclass(frozen=True, slots=True)
class TriggerSource:
    """The published trigger of an automation that is on. The smallest `created_order` is the oldest."""

    automation_id: int
    version_id: int
    platform: str
    trigger_type: str
    config: Mapping[str, object]
    created_order: int


@dataclass(frozen=True, slots=True)
class Trigger:
    """A compiled trigger. `narrowing` is the subject that it is limited to, such as a post or a tag's key, or ""."""

    automation_id: int
    version_id: int
    platform: str
    trigger_type: str
    created_order: int
    narrowing: str = ""
    outside_hours_only: bool = False
    allows_typos: bool = False


class TriggerMatch(NamedTuple):
    """A trigger that fits. `keyword` is the keyword that was found, normalized, and `mode` how it had to match.

    `has_typos` says that the text has the keyword only with typing mistakes.
    """

    trigger: Trigger
    keyword: str = ""
    mode: str = ""
    has_typos: bool = False


class _Keywords:
    """The keywords of one type of trigger on one platform, for one subject or for all.

    `phrases` holds for each mode the triggers of a keyword. `lengths` gives for the first word of a keyword of several
    words how many words such keywords have. `signs` are keywords without any word, such as a question mark. `tolerant`
    are the keywords that are also found with typing mistakes, None if there are none.
    """

    __slots__ = ("lengths", "phrases", "signs", "tolerant")

    def __init__(self, triggers: Sequence[tuple[Trigger, int, Sequence[str]]], *, room: int) -> None:
        phrases: tuple[dict[str, list[Trigger]], ...] = tuple(defaultdict(list) for _ in MODES)
        lengths: dict[str, set[int]] = defaultdict(set)
        signs: list[tuple[int, str, Trigger]] = []
        for trigger, mode, keywords in triggers:
            for keyword in dict.fromkeys(normalized(keyword).strip() for keyword in keywords):
                words = words_of(keyword)
                if words:
                    phrases[mode][intern(" ".join(words))].append(trigger)
                elif keyword:
                    signs.append((mode, keyword, trigger))
                if len(words) > 1 and mode != EXACT:
                    lengths[intern(words[0])].add(len(words))
        # Most keywords have one trigger. All keywords of a trigger share one tuple, which saves a third of the memory.
        alone = {trigger: (trigger,) for trigger, _, _ in triggers}
        self.phrases = tuple(
            {phrase: tuple(found) if len(found) > 1 else alone[found[0]] for phrase, found in one.items()}
            for one in phrases
        )
        self.lengths = {word: tuple(sorted(found)) for word, found in lengths.items()}
        self.signs = tuple(signs)
        tolerant = [*_tolerant_phrases(triggers)]
        self.tolerant = FuzzyKeywords(tolerant, room=room) if tolerant else None

    def tolerant_matches(self, text: "_Text") -> list[TriggerMatch]:
        """Give the matches of keywords with typing mistakes, the best first."""
        if self.tolerant is None:
            return []
        found = [
            (one.mode, -len(phrase), one.owner.created_order, TriggerMatch(one.owner, phrase, MODES[one.mode], True))
            for one, at in self.tolerant.found_in(text.words)
            if text.allows(one.mode, at, len(one.words)) and (phrase := " ".join(one.words))
        ]
        return [one[3] for one in sorted(found, key=lambda one: one[:3])]

    def matches(self, text: "_Text") -> list[TriggerMatch]:
        """Give all matches, the best first."""
        found: list[tuple[int, int, int, TriggerMatch]] = []
        for mode, phrase in self._found(text):
            for trigger in self.phrases[mode].get(phrase, ()):
                match = TriggerMatch(trigger, phrase, MODES[mode])
                found.append((mode, -len(phrase), trigger.created_order, match))
        for mode, sign, trigger in self.signs:
            if text.has_sign(sign, mode):
                found.append((mode, -len(sign), trigger.created_order, TriggerMatch(trigger, sign, MODES[mode])))
        if len(found) > 1:
            found.sort(key=lambda one: one[:3])
        return [one[3] for one in found]

    def _found(self, text: "_Text") -> Iterator[tuple[int, str]]:
        """Give each keyword of the text once, with its mode."""
        exact, starting, contained = self.phrases
        words = text.words
        if exact and text.is_whole and (phrase := " ".join(words)) in exact:
            yield EXACT, phrase
        if starting and words:
            yield from ((STARTS_WITH, phrase) for phrase in (words[0], *self._phrases_at(words, 0)))
        if not contained:
            return
        phrases = set(words)
        if self.lengths:
            for at, word in enumerate(words):
                if word in self.lengths:
                    phrases.update(self._phrases_at(words, at))
        for phrase in contained.keys() & phrases:
            yield CONTAINS, phrase

    def _phrases_at(self, words: Sequence[str], at: int) -> Iterator[str]:
        """Give the phrases of several words that may be keywords and begin at a word."""
        for length in self.lengths.get(words[at], ()):
            if at + length <= len(words):
                yield " ".join(words[at : at + length])


def _tolerant_phrases(triggers: Iterable[tuple[Trigger, int, Sequence[str]]]) -> Iterator[KeywordPhrase[Trigger]]:
    """Give the keywords with a word that may have mistakes, of the triggers that allow mistakes."""
    for trigger, mode, keywords in triggers:
        if trigger.allows_typos:
            for words in dict.fromkeys(tuple(words_of(normalized(keyword))) for keyword in keywords):
                if any(map(edits_allowed, words)):
                    yield KeywordPhrase(words, mode, trigger)


class _Text:
    """A text that is compared. `is_whole` is False if only its beginning is."""

    __slots__ = ("is_whole", "text", "words")

    def __init__(self, text: str) -> None:
        text = text.strip()
        self.is_whole = len(text) <= MOST_TEXT
        self.text = normalized(text[:MOST_TEXT])
        self.words = words_of(self.text)

    def has_sign(self, sign: str, mode: int) -> bool:
        if mode == EXACT:
            return self.is_whole and self.text == sign
        return self.text.startswith(sign) if mode == STARTS_WITH else sign in self.text

    def allows(self, mode: int, at: int, length: int) -> bool:
        """Say whether a mode allows a keyword of so many words at this place."""
        if mode == EXACT:
            return self.is_whole and at == 0 and length == len(self.words)
        return mode == CONTAINS or at == 0


class CompiledTriggers:
    """All triggers of a workspace's automations that are on, ready to be asked.

    Only `compile_triggers` makes one. It never changes, so threads may share it.
    """

    __slots__ = ("_by_automation", "_by_type", "_keywords", "_some_allow_typos")

    def __init__(self, triggers: Sequence[tuple[Trigger, TriggerSource]]) -> None:
        by_type: dict[tuple[str, str], list[Trigger]] = defaultdict(list)
        keywords: dict[tuple[str, str, str], list[tuple[Trigger, int, Sequence[str]]]] = defaultdict(list)
        for trigger, source in triggers:
            if trigger.trigger_type in KEYWORD_TYPES:
                mode = _mode_of(source.config)
                key = (trigger.trigger_type, trigger.platform, trigger.narrowing)
                keywords[key].append((trigger, mode, _keywords_of(source.config)))
            else:
                by_type[trigger.trigger_type, trigger.platform].append(trigger)
        self._by_automation = {trigger.automation_id: trigger for trigger, _ in triggers}
        self._by_type = {key: tuple(found) for key, found in by_type.items()}
        self._keywords: dict[tuple[str, str, str], _Keywords] = {}
        room = MOST_FORMS
        for key, found in keywords.items():
            made = self._keywords[key] = _Keywords(found, room=room)
            room -= made.tolerant.size if made.tolerant else 0
        self._some_allow_typos = any(found.tolerant for found in self._keywords.values())

    def __bool__(self) -> bool:
        return bool(self._by_automation)

    def of_automation(self, automation_id: int) -> Trigger | None:
        """Give the trigger of one automation, None if the automation is not on."""
        return self._by_automation.get(automation_id)

    def match(self, text: str, *, kind: str, platform: str, subject: str = "") -> list[TriggerMatch]:
        """Give the triggers of the type `kind` on a platform that fit, the best first.

        A trigger for this very `subject` (a post, an ad) goes before those for all. Then the mode decides: exact,
        starts_with, contains. Then the longer keyword wins, then the older automation. Keywords with typing mistakes
        come after all others. Only the first `MOST_TEXT` characters of the text count.
        """
        if kind in KEYWORD_TYPES:
            return self._keyword_matches(text, kind, platform, subject)
        found = self._by_type.get((kind, platform), ())
        fitting = [trigger for trigger in found if trigger.narrowing in ("", _subject_key(kind, subject))]
        return [TriggerMatch(trigger) for trigger in sorted(fitting, key=_narrow_first)]

    def _keyword_matches(self, text: str, kind: str, platform: str, subject: str) -> list[TriggerMatch]:
        read: _Text | None = None
        found: list[TriggerMatch] = []
        for narrowing in (subject, "") if subject else ("",):
            keywords = self._keywords.get((kind, platform, narrowing))
            if keywords is not None:
                read = read or _Text(text)
                found += keywords.matches(read)
        if self._some_allow_typos and read is not None:
            found += self._tolerant_matches(read, kind, platform, subject)
        if len(found) < 2:
            return found
        first: dict[int, TriggerMatch] = {}
        for match in found:
            first.setdefault(match.trigger.automation_id, match)
        return list(first.values())

    def _tolerant_matches(self, text: "_Text", kind: str, platform: str, subject: str) -> Iterator[TriggerMatch]:
        for narrowing in dict.fromkeys((subject, "")):
            keywords = self._keywords.get((kind, platform, narrowing))
            if keywords is not None:
                yield from keywords.tolerant_matches(text)

    def all_of(self, kind: str, *, subject: str = "") -> list[TriggerMatch]:
        """Give the triggers of the type `kind` on any platform that fit a fact without a text, the oldest first.

        The subject is the tag of `tag_added`, the days of `contact_inactive` and so on (`NARROWED_BY`).
        """
        wanted = ("", _subject_key(kind, subject))
        found = [
            trigger
            for (name, _), triggers in self._by_type.items()
            if name == kind
            for trigger in triggers
            if trigger.narrowing in wanted
        ]
        return [TriggerMatch(trigger) for trigger in sorted(found, key=_age)]


def compile_triggers(automations: Iterable[TriggerSource]) -> CompiledTriggers:
    """Compile the triggers of a workspace's automations that are on."""
    compiled = [(_compiled(source), source) for source in automations]
    return CompiledTriggers(sorted(compiled, key=lambda one: _age(one[0])))


def _compiled(source: TriggerSource) -> Trigger:
    narrowing = source.config.get(NARROWED_BY.get(source.trigger_type, ""))
    return Trigger(
        automation_id=source.automation_id,
        version_id=source.version_id,
        platform=source.platform,
        trigger_type=source.trigger_type,
        created_order=source.created_order,
        narrowing="" if narrowing in (None, "any") else _subject_key(source.trigger_type, str(narrowing)),
        outside_hours_only=source.config.get("outside_hours_only") is True,
        allows_typos=source.config.get("typos") is True,
    )


def _subject_key(kind: str, subject: str) -> str:
    """Give the form in which a subject is compared."""
    if kind == "tag_added":
        return name_key(subject)
    if kind == "review_received" and subject.isdigit():
        return "high" if int(subject) >= GOOD_STARS else "low"
    return subject.strip()


def _keywords_of(config: Mapping[str, object]) -> list[str]:
    """Give the keywords of a configuration. Those with variables are left out: nobody writes their names."""
    keywords = config.get("keywords")
    keywords = keywords if isinstance(keywords, list) else []
    return [keyword for keyword in keywords if isinstance(keyword, str) and "{{" not in keyword]


def _mode_of(config: Mapping[str, object]) -> int:
    mode = config.get("match")
    return MODES.index(mode) if mode in MODES else CONTAINS


def _age(trigger: Trigger) -> tuple[int, int]:
    return trigger.created_order, trigger.automation_id


def _narrow_first(trigger: Trigger) -> tuple[bool, bool, tuple[int, int]]:
    return not trigger.narrowing, not trigger.outside_hours_only, _age(trigger)

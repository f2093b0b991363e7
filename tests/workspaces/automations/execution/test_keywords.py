"""Which automations a text or another fact finds, and in which order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.automations.execution.keywords import (
    EXACT,
    MOST_TEXT,
    CompiledTriggers,
    TriggerMatch,
    TriggerSource,
    compile_triggers,
)
from workspaces.automations.execution.typing_mistakes import (
    MOST_FORMS,
    MOST_TRIED,
    FuzzyKeywords,
    KeywordPhrase,
    edits_allowed,
)


def source(
    number: int, kind: str = "keyword", platform: str = "whatsapp", age: int = 0, **config: Any
) -> TriggerSource:
    """Make the trigger of an automation. Without `age` the number says how old it is."""
    return TriggerSource(number, number * 10, platform, kind, config, age or number)


def keyword(number: int, *keywords: str, match: str | None = "contains", **others: Any) -> TriggerSource:
    return source(number, keywords=list(keywords), match=match, **others)


def found(triggers: CompiledTriggers, text: str, kind: str = "keyword", **options: Any) -> list[int]:
    options.setdefault("platform", "whatsapp")
    return ids(triggers.match(text, kind=kind, **options))


def ids(matches: list[TriggerMatch]) -> list[int]:
    return [match.trigger.automation_id for match in matches]


@pytest.mark.parametrize(
    ("keyword_", "texts"),
    [
        (
            "Book",
            ["book", "BOOK!", "can I *book* a table?", "\uff42\uff4f\uff4f\uff4b", "bo\u200bok", "_book_", "👉book"],
        ),
        ("fully booked", ["are you fully booked?", "Fully\n booked", "fully-booked"]),
        ("check-up", ["a check up please", "check-up"]),
        ("año", ["ANO nuevo", "el an\u0303o"]),
        ("straße", ["STRASSE 5", "die Straße"]),
        ("ёлка", ["ЕЛКА", "елка"]),
        ("أهلا", ["اهلا وسهلا", "أَهْلًا", "أهـــلا"]),
        ("istanbul", ["İSTANBUL", "\u0131stanbul"]),
        ("5 days", ["\u0665 days", "५ days", "⑤ days"]),
        ("价格", ["请问价格多少", "iPhone价格?", "价 格"]),
        ("iphone 价格", ["iPhone价格"]),
        ("ราคา", ["ขอราคาหน่อย"]),
        ("ガ", ["ガス", "ｶﾞ"]),
        ("हिन्दी", ["क्या हिन्दी में"]),
        ("가격", ["가격 알려주세요"]),
        ("👍", ["ok👍🏽", "👍"]),
        ("c++", ["do you teach C++?"]),
        ("?", ["how much?"]),
    ],
)
def test_a_keyword_is_found_as_whole_words_in_any_script(keyword_: str, texts: list[str]) -> None:
    triggers = compile_triggers([keyword(1, keyword_)])
    assert {text: found(triggers, text) for text in texts} == {text: [1] for text in texts}


@pytest.mark.parametrize(
    ("keyword_", "text"),
    [
        ("book", "booking"),
        ("book", "ebook"),
        ("fully booked", "booked fully"),
        ("fully booked", "fully nicely booked"),
        ("कम", "किमी"),  # vowel signs are no decoration
        ("मी", "किमी"),
        ("มา", "ม่า"),
        ("價格", "价格"),
        ("c++", "c"),
        ("", "anything"),
        ("   ", "anything"),
        ("{{workspace.name}}", "workspace name"),
    ],
)
def test_a_part_of_a_word_is_no_keyword(keyword_: str, text: str) -> None:
    assert found(compile_triggers([keyword(1, keyword_)]), text) == []


def test_a_keyword_matches_as_its_automation_says() -> None:
    triggers = compile_triggers(
        [keyword(1, "price", match="exact"), keyword(2, "price", match="starts_with"), keyword(3, "price", match=None)]
    )
    assert found(triggers, " Price! ") == [1, 2, 3]
    assert found(triggers, "price list") == [2, 3]
    assert found(triggers, "the price") == [3]
    match, *_ = triggers.match("Price!", kind="keyword", platform="whatsapp")
    assert (match.trigger.version_id, match.keyword, match.mode) == (10, "price", "exact")


def test_the_stricter_mode_goes_first_then_the_longer_keyword_then_the_older_automation() -> None:
    triggers = compile_triggers(
        [
            keyword(1, "price", age=9),
            keyword(2, "price list please", age=8),
            keyword(3, "price", match="starts_with", age=7),
            keyword(4, "price list", age=6),
            keyword(5, "price list", age=5),
            keyword(6, "Price list please", match="exact", age=10),
        ]
    )
    assert found(triggers, "price list please") == [6, 3, 2, 5, 4, 1]
    letters = compile_triggers(keyword(number, "a" * number, age=20 - number) for number in range(1, 9))
    assert found(letters, " ".join("a" * number for number in range(1, 9))) == [8, 7, 6, 5, 4, 3, 2, 1]


def test_an_automation_is_found_once() -> None:
    triggers = compile_triggers([keyword(1, "book", "table", "Book", "book a table")])
    assert found(triggers, "book a table, book!") == [1]


def test_only_the_beginning_of_a_long_text_counts() -> None:
    triggers = compile_triggers([keyword(1, "price"), keyword(2, "price", match="exact")])
    assert found(triggers, "x" * (MOST_TEXT - 6) + " price") == [1]
    assert found(triggers, "x" * (MOST_TEXT - 5) + " price") == []
    # The part that is not compared must not make a longer text an exact keyword.
    assert found(triggers, "price" + "." * MOST_TEXT + "no") == [1]
    assert found(triggers, "price" + " " * MOST_TEXT) == [2, 1]


def test_keywords_belong_to_their_platform_and_type() -> None:
    triggers = compile_triggers(
        [keyword(1, "price"), keyword(2, "price", platform="instagram", kind="comment_keyword")]
    )
    assert found(triggers, "price", platform="instagram") == []
    assert found(triggers, "price", "comment_keyword", platform="instagram") == [2]
    assert found(triggers, "price", "comment_keyword") == []


def test_a_trigger_for_this_post_or_ad_goes_before_those_for_all() -> None:
    triggers = compile_triggers(
        [
            keyword(1, "price", kind="comment_keyword", match="exact"),
            keyword(2, "price", kind="comment_keyword", post="p1", age=9),
            keyword(3, "price", kind="comment_keyword", post="p2"),
            source(4, "any_comment"),
            source(5, "any_comment", post="p1"),
            source(6, "ad_click"),
            source(7, "ad_click", ad="a1"),
            source(8, "first_message"),
            source(9, "first_message", outside_hours_only=True),
        ]
    )
    assert found(triggers, "price", "comment_keyword", subject="p1") == [2, 1]
    assert found(triggers, "price", "comment_keyword") == [1]
    assert found(triggers, "", "any_comment", subject="p1") == [5, 4]
    assert found(triggers, "", "ad_click", subject="a1") == [7, 6]
    assert found(triggers, "", "ad_click", subject="a2") == [6]
    assert found(triggers, "", "first_message") == [9, 8]


def test_facts_find_all_automations_that_they_fit() -> None:
    triggers = compile_triggers(
        [
            source(2, "tag_added", platform="sms", tag="\uff36ip ", age=1),
            source(1, "tag_added", tag="VIP", age=2),
            source(3, "tag_added", tag="other"),
            source(4, "contact_inactive", days=30),
            source(5, "birthday"),
            source(6, "review_received", stars="any"),
            source(7, "review_received", stars="low"),
            source(8, "form_sent", form=None),
        ]
    )
    assert ids(triggers.all_of("tag_added", subject="vip")) == [2, 1]
    assert ids(triggers.all_of("contact_inactive", subject="30")) == [4]
    assert ids(triggers.all_of("contact_inactive", subject="3")) == []
    assert ids(triggers.all_of("birthday")) == [5]
    assert ids(triggers.all_of("review_received", subject="3")) == [6, 7]
    assert ids(triggers.all_of("review_received", subject="4")) == [6]
    assert ids(triggers.all_of("form_sent", subject="f1")) == [8]
    trigger = triggers.of_automation(4)
    assert trigger is not None
    assert trigger.version_id == 40
    assert triggers.of_automation(99) is None


def test_damaged_configurations_find_nothing() -> None:
    damaged: list[dict[str, Any]] = [{}, {"keywords": None}, {"keywords": "price"}, {"keywords": [None, 5, ["price"]]}]
    triggers = compile_triggers(
        TriggerSource(number, number, "whatsapp", "keyword", {"match": [], **config}, number)
        for number, config in enumerate(damaged)
    )
    assert found(triggers, "price 5") == []
    assert not compile_triggers([])


WORDS = st.sampled_from(("price", "list", "Book", "\uff41", "价", "格", "ร", "👍", "é", "ß", "٣", "a\u0301", "?", "हि"))
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@given(st.lists(PHRASES, min_size=1, max_size=8), st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=600))
def test_a_text_finds_each_keyword_that_it_was_made_of(keywords: list[str], around: str, odd: str) -> None:
    triggers = compile_triggers(keyword(number, phrase) for number, phrase in enumerate(keywords, 1))
    for number, phrase in enumerate(keywords, 1):
        assert number in found(triggers, f"{around} {phrase} {around}")
    assert set(found(triggers, odd)) <= set(range(1, len(keywords) + 1))


# Typing mistakes -------------------------------------------------------------------------------------


def tolerant(number: int, *keywords: str, **others: Any) -> TriggerSource:
    return keyword(number, *keywords, typos=True, **others)


@pytest.mark.parametrize(
    ("keyword_", "fits", "does_not"),
    [
        ("price", ["pricee", "prrice", "prive", "pirce", "what is the PRCIE?"], ["rice", "pirec", "pries me"]),
        ("prices", ["price list", "prises", "priecs"], ["pris", "prizess", "pried"]),
        ("menu", ["menu"], ["menus", "menuu", "meun"]),
        ("appointment", ["apointmant", "appiontmnet", "appointmentss"], ["apointmnat", "pointmant"]),
        ("opening hours", ["openning huors please"], ["hours opening", "opening of hours"]),
        ("table 12345", ["tabel 12345"], ["table 12346"]),
        ("año nuevo", ["año nuebo"], ["ano viejo"]),
        ("价格", ["价格"], ["价钱"]),
    ],
)
def test_small_typing_mistakes_are_forgiven_where_they_may_be(
    keyword_: str, fits: list[str], does_not: list[str]
) -> None:
    forgiving = compile_triggers([tolerant(1, keyword_)])
    assert [text for text in fits if found(forgiving, text) != [1]] == []
    assert [text for text in does_not if found(forgiving, text)] == []
    exact = compile_triggers([keyword(1, keyword_)])
    assert [text for text in fits if found(exact, text) and text != keyword_] == []


def test_what_is_written_right_goes_before_every_mistake() -> None:
    triggers = compile_triggers(
        [
            tolerant(1, "prices", match="exact"),
            keyword(2, "prizes", match="contains"),
            tolerant(3, "prize", match="starts_with"),
        ]
    )
    assert found(triggers, "prizes") == [2, 1, 3]
    assert [match.has_typos for match in triggers.match("prizes", kind="keyword", platform="whatsapp")] == [
        False,
        True,
        True,
    ]
    assert found(triggers, "prices") == [1]
    posts = [tolerant(4, "prices", kind="comment_keyword", post="77"), keyword(5, "prizes", kind="comment_keyword")]
    assert found(compile_triggers(posts), "prizes", kind="comment_keyword", subject="77") == [5, 4]


def test_a_mode_holds_with_mistakes_too() -> None:
    triggers = compile_triggers(
        [tolerant(1, "opening hours", match="exact"), tolerant(2, "prices", match="starts_with")]
    )
    assert found(triggers, "Openning hours") == [1]
    assert found(triggers, "Openning hours today") == []
    assert (found(triggers, "Pirces please"), found(triggers, "the pirces")) == ([2], [])


def distance(one: str, other: str) -> int:
    """The restricted edit distance with swaps, from its textbook table."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        rows.append([i])
        for j, b in enumerate(other, 1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, one[i - 2]) == (other[j - 2], b):
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i].append(best)
    return rows[-1][-1]


@given(st.text("abc", min_size=5, max_size=12), st.text("abc", min_size=5, max_size=14))
def test_mistakes_are_counted_as_the_textbook_does(word: str, written: str) -> None:
    is_found = found(compile_triggers([tolerant(1, word)]), written) == [1]
    assert is_found == (distance(word, written) <= edits_allowed(word))


def test_hostile_keywords_are_kept_within_bounds() -> None:
    """Hundreds of words that are alike, and words as long as a keyword may be."""
    letters = [chr(0x1200 + number) for number in range(3_000)]
    words = [*(f"{one}bcde" for one in letters), *(f"{one}{'ab' * 29}" for one in letters[:300])]
    kept = FuzzyKeywords([KeywordPhrase((word,), EXACT, 1) for word in words], room=MOST_FORMS)
    assert kept.size <= MOST_FORMS
    texts = (["ybcde"] * 83, ["ab" * 250], [f"{one}bcdf" for one in letters[:83]], ["ab" * 30] * 8)
    assert all(len([*kept.found_in(text)]) <= MOST_TRIED for text in texts)

"""Brings texts of any language into the form in which they are compared, and splits them into words."""

import re
import unicodedata

# People often leave out the marks of Latin, Greek, Cyrillic, Hebrew and Arabic letters. In other scripts marks are
# vowels and stay. Characters go that nobody sees or that only change the look of the one before: format characters
# (Cf), the Arabic stroke that makes words longer, variants and skin colours of emoji, and the frame of keycaps.
IGNORED = re.compile(
    "["
    "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"  # Latin, Greek, Cyrillic
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"  # Arabic
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0001-\U000e01ef"
    "]+"
)
FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")

# Han, kana, Thai, Lao, Khmer and Burmese are written without spaces, so each of their characters counts as a word.
UNSPACED = (
    "\u0e00-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff\u1000-\u103f\u104a-\u109f\u1780-\u17df\u17ea-\u17ff\u3005-\u3007"
    "\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# The vowels and other marks inside words of Indian scripts, Tibetan, Mongolian and others.
MARKS = (
    "\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u0898-\u0963\u0966-\u09fd\u0a00-\u0df3"
    "\u0f18-\u0f39\u0f3e-\u0fbc\u1712-\u1734\u1752-\u1773\u180b-\u180f\u18a9\u1920-\u193b\u1a17-\u1a7f\u1b00-\u1b44"
    "\u1b6b-\u1bf3\u1c24-\u1c37\u1cd0-\u1cf9\ua66f-\ua67d\ua6f0\ua6f1\ua802-\ua82c\ua880-\ua8c5\ua8e0-\ua8ff"
    "\ua926-\ua953\ua980-\ua9c0\uaa29-\uaa4d\uaaeb-\uaaf6\uabe3-\uabed\U00011000-\U00011fff"
)
# Emoji, currency signs and other symbols are words of their own. Punctuation and spaces only separate words.
SYMBOLS = (
    "$+\u00a2-\u00a9\u00ac\u00ae-\u00b1\u00b4\u00b8\u00d7\u00f7\u20a0-\u20cf\u2100-\u214f\u2190-\u23ff"
    "\u2460-\u27bf\u2900-\u2bff\U0001f000-\U0001faff"
)
LETTERS = rf"[^\W_{UNSPACED}{SYMBOLS}]"
WORD = re.compile(rf"{LETTERS}(?:{LETTERS}++|[{MARKS}]++)*+|[{UNSPACED}]|[{SYMBOLS}]")
PLAIN_WORD = re.compile(r"[a-z0-9]+|[$+]")
# One character can stand for up to 18. No script of words needs more than three for one on average.
MOST_NORMALIZED = 1_500


def normalized(text: str) -> str:
    """Return a text without case, composed (NFKC), with digits 0 to 9, without marks and invisible characters.

    The caller cuts texts of people first: at most `MOST_NORMALIZED` decomposed characters are read.
    """
    if text.isascii():
        return text.lower()
    parts = IGNORED.sub("", unicodedata.normalize("NFKD", text)[:MOST_NORMALIZED])
    if parts.isascii():
        return parts.lower()
    # Case can bring back what was decomposed or ignored.
    folded = IGNORED.sub("", unicodedata.normalize("NFKD", parts.casefold()))
    seen = unicodedata.normalize("NFC", folded).replace("\u0131", "i")
    return seen if seen.isascii() else FOREIGN_DIGIT.sub(_plain_digit, seen)


def _plain_digit(found: re.Match[str]) -> str:
    return str(unicodedata.digit(found[0]))


def words_of(text: str) -> list[str]:
    """Return the words of a normalized text. A character of a script without spaces is a word, and so is a symbol."""
    return (PLAIN_WORD if text.isascii() else WORD).findall(text)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text with spaces."""
    return frozenset(text.split())

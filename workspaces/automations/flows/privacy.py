"""Private content in free text, which must not leave a workspace, and the variables that a text may have.

The patterns find too much rather than too little. After a false alarm, the next customer only has to write a text
anew.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import unquote

# A step fills in variables for each contact when it runs.

KNOWN_VARIABLES: dict[str, frozenset[str]] = {
    "contact": frozenset({"name", "first_name", "last_name", "email", "phone", "city", "country", "language"}),
    "workspace": frozenset(
        {"name", "phone", "email", "address", "website", "opening_hours", "booking_link", "review_link", "menu_link"}
    ),
    "appointment": frozenset({"date", "time", "service", "staff", "location", "link"}),
    "order": frozenset({"number", "total", "status", "link", "items"}),
    "cart": frozenset({"total", "items", "link"}),
    "message": frozenset({"text"}),
    "payment": frozenset({"amount", "link"}),
    "ai": frozenset({"answer", "topic"}),
}
# The flow's author chooses these names: `answers` by a question's `save_as`, `fields` by the contact's fields.
FREE_ROOTS = frozenset({"answers", "fields"})

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
VARIABLE = re.compile(r"\{\{([^{}]{0,200})\}\}")


def is_variable(text: str) -> bool:
    """Say whether this is a variable's name, such as `contact.city` or `answers.budget`."""
    root, _, name = text.partition(".")
    return name in KNOWN_VARIABLES.get(root, ()) or (root in FREE_ROOTS and NAME.fullmatch(name) is not None)


def is_workspace_variable(text: str) -> bool:
    """Say whether a value is a single variable of the workspace, for which every customer has a value."""
    found = VARIABLE.fullmatch(text.strip())
    name = found[1].strip() if found else ""
    return name.startswith("workspace.") and is_variable(name)


def unknown_variables(text: str) -> Iterator[str]:
    """Give each text in double braces that is not a variable."""
    for found in VARIABLE.finditer(text):
        if not is_variable(found[1].strip()):
            yield found[1].strip()


def without_variables(text: str) -> str:
    """Remove the known variables from a text. Names chosen by people stay, because they may be private."""

    def stand_in(found: re.Match[str]) -> str:
        name = found[1].strip()
        if not is_variable(name):
            return found[0]
        root, _, rest = name.partition(".")
        return f" {rest} " if root in FREE_ROOTS else " "

    return VARIABLE.sub(stand_in, text)


TIME_OF_DAY = re.compile(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
IDEOGRAPHIC_DOT = re.compile(r"(?<=[A-Za-z0-9])\u3002(?=[A-Za-z])")
WORD = re.compile(r"[\w\-]+")
TAG = re.compile(r"</?[a-z]{1,10}\d?\s*/?>", re.IGNORECASE)
# Letters next to digits that stand for digits.
LETTER_FOR_ZERO = re.compile(r"(?<=\d)[oO]|[oO](?=\d)")
LETTER_FOR_ONE = re.compile(r"(?<=\d)[Il|]|[Il|](?=\d)")

EMAIL = re.compile(
    r"@\s?[\w\[]|\w\s?[(\[{]\s?at\s?[)\]}]\s?\w|\w[\s_\-]{1,5}at[\s_\-]{1,5}\w{1,63}?[\s_\-]{1,5}dot[\s_\-]{1,5}\w"
    r"|\bat\s+(?:gmail|googlemail|hotmail|outlook|yahoo|icloud|gmx|protonmail)\b|\w(?-i:AT)\w{1,63}(?-i:DOT)\w"
    r"|\b(?:insta|instagram|facebook|messenger|tiktok|telegram|snapchat|twitter|discord|skype|wechat|viber)\s*[:=]\s*\w"
    r"|\w#\d{4}(?!\d)",
    re.IGNORECASE,
)
ADDRESS = re.compile(
    r"\w://|\b(?:https?|hxxps?|ftp|www)(?![^\W_])|(?<!\S)//\w|\\\\\w"
    r"|\b(?:mailto|tel|sms|skype|callto|geo|javascript|data):\S|\blocalhost\b"
    r"|(?<![\w.\-])(?:[\w-]+\.)+(?:[^\W\d_]{2,63}|xn--[\w-]+)(?![\w])"
    r"|\w\s?[(\[{]\s?(?:dot|\.)\s?[)\]}]\s?\w|\w[\s_\-]{1,5}dot[\s_\-]{1,5}\w|\w,(?:com|net|org)\b"
    r"|\w\s{1,5}\.\s{0,5}(?:com|net|org|info|biz|app|shop|io|co|de|fr|es|it|nl|eu|uk|us)\b"
    r"|(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)|[0-9a-f]{0,4}:[0-9a-f]{0,4}::?[0-9a-f]{1,4}",
    re.IGNORECASE,
)
# Seven digits or more with little between them; fewer after a word that announces a number.
NUMBER = re.compile(
    r"\d(?:(?:[^\w$€£¥%]|_){0,5}\d){6,}"
    r"|(?:\b(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|double|triple)\b[\s,.\-]{0,3}){7}"
    r"|\b(?:tel|telephone|phone|mobile|cell|call|dial|ring|fax|whatsapp|sms|number|no|nr|id|pin|code)\b\W{0,3}\+?"
    r"\d(?:[\W_]?\d){3,}"
    r"|\+\d(?:[\W_]{0,3}\d){3,}",
    re.IGNORECASE,
)
KEY = re.compile(
    r"(?<![A-Za-z])(?:(?:svc|sk|pk|rk|ghp|gho|github_pat|xox[abp]|hf|shpat)[_-]\w{6,}|whsec[_-][\w+/]{6,})"
    r"|(?<![A-Za-z])(?:api|key|tok|token|act|usr|acc|org|cus|sub|id)[_-](?=\w{0,60}\d)\w{4,}"
    r"|\b(?:AKIA|ASIA|AIza|ya29|EAA|eyJ)[\w.\-]{6,}|\bBearer\s+\S{6,}"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{20,}={1,2}|-----BEGIN\b"
    r"|\b(?:password|passwort|passwd|passcode|pwd|secret|token|api[\s_\-]?key|access[\s_\-]?key)\s*[:=]\s*\S",
    re.IGNORECASE,
)
BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}")
# A sound of several letters counts as one: `Angstschweiß` can be spoken, `qzxkvbnm` cannot.
SOUND = re.compile(r"sch|ch|ck|gh|ng|ph|sh|st|th|wh", re.IGNORECASE)
UNPRONOUNCEABLE = re.compile(r"[b-df-hj-np-tv-xz]{6,}", re.IGNORECASE)
PATTERNS = {"an e-mail address or account name": EMAIL, "a web address": ADDRESS, "a phone number": NUMBER}


# Unicode categories of invisible formatting characters and of combining marks.
INVISIBLE_CATEGORIES = frozenset({"Cf", "Mn", "Me"})


def _looks_random(word: str) -> bool:
    digits = sum(character.isdigit() for character in word)
    letters = sum(character.isalpha() for character in word)
    if len(word) >= 8 and digits >= 3 and letters >= 1:
        return True
    if len(word) >= 16 and digits >= 1 and letters >= 1 and "-" not in word:
        return True
    case_changes = sum(a.islower() and b.isupper() for a, b in pairwise(word))
    return len(word) >= 12 and (case_changes >= 3 or UNPRONOUNCEABLE.search(SOUND.sub("s", word)) is not None)


def _is_mixed(word: str) -> bool:
    return all(any(map(kind, word)) for kind in (str.islower, str.isupper, str.isdigit))


def _digit(character: str) -> str:
    """Give a digit of any script as an ASCII digit; other characters stay."""
    value = unicodedata.numeric(character, -1)
    return str(int(value)) if value in range(10) else character


def normalize(text: str) -> str:
    """Normalize a text: one Unicode form, entities resolved, no tags, marks, invisible characters or variables."""
    text = unicodedata.normalize("NFKC", unquote(html.unescape(html.unescape(text))))
    text = "".join(_digit(one) for one in text if unicodedata.category(one) not in INVISIBLE_CATEGORIES)
    text = IDEOGRAPHIC_DOT.sub(".", TAG.sub("", without_variables(text)))
    return TIME_OF_DAY.sub(" h ", LETTER_FOR_ONE.sub("1", LETTER_FOR_ZERO.sub("0", text)))


def private_content(text: str) -> str | None:
    """Name the private content found in a text, such as `a phone number`; None if nothing was found."""
    text = normalize(text)
    for what, pattern in PATTERNS.items():
        if pattern.search(text):
            return what
    if (
        KEY.search(text)
        or any(map(_is_mixed, BASE64.findall(text)))
        or any(_looks_random(word) for word in WORD.findall(text))
    ):
        return "an id or a key"
    return None

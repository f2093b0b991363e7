"""Finds private content in free text, which must not leave a workspace: addresses, numbers, account names, keys.

The patterns find too much rather than too little. After a false alarm, the next customer only has to write a text anew.
"""

import html
import re
import unicodedata
from itertools import pairwise
from urllib.parse import unquote

from workspaces.automations.flows.variables import without_variables

TIME_OF_DAY = re.compile(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
IDEOGRAPHIC_DOT = re.compile(r"(?<=[A-Za-z0-9])\u3002(?=[A-Za-z])")
WORD = re.compile(r"[\w\-]+")
TAG = re.compile(r"</?[a-z]{1,10}\d?\s*/?>", re.IGNORECASE)
# Letters next to digits that stand for digits.
NOUGHT = re.compile(r"(?<=\d)[oO]|[oO](?=\d)")
ONE = re.compile(r"(?<=\d)[Il|]|[Il|](?=\d)")

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
UNSPEAKABLE = re.compile(r"[b-df-hj-np-tv-xz]{6,}", re.IGNORECASE)
FOUND = {"an e-mail address or account name": EMAIL, "a web address": ADDRESS, "a phone number": NUMBER}


# Unicode categories of invisible formatting characters and of combining marks.
UNSEEN = frozenset({"Cf", "Mn", "Me"})


def _looks_random(word: str) -> bool:
    digits = sum(character.isdigit() for character in word)
    letters = sum(character.isalpha() for character in word)
    if len(word) >= 8 and digits >= 3 and letters >= 1:
        return True
    if len(word) >= 16 and digits >= 1 and letters >= 1 and "-" not in word:
        return True
    case_changes = sum(a.islower() and b.isupper() for a, b in pairwise(word))
    return len(word) >= 12 and (case_changes >= 3 or UNSPEAKABLE.search(SOUND.sub("s", word)) is not None)


def _is_mixed(word: str) -> bool:
    return all(any(map(kind, word)) for kind in (str.islower, str.isupper, str.isdigit))


def _digit(character: str) -> str:
    """Give a digit of any script as an ASCII digit; other characters stay."""
    value = unicodedata.numeric(character, -1)
    return str(int(value)) if value in range(10) else character


def plain(text: str) -> str:
    """Normalize a text: one Unicode form, entities resolved, no tags, marks, invisible characters or variables."""
    text = unicodedata.normalize("NFKC", unquote(html.unescape(html.unescape(text))))
    text = "".join(_digit(one) for one in text if unicodedata.category(one) not in UNSEEN)
    text = IDEOGRAPHIC_DOT.sub(".", TAG.sub("", without_variables(text)))
    return TIME_OF_DAY.sub(" h ", ONE.sub("1", NOUGHT.sub("0", text)))


def private_content(text: str) -> str | None:
    """Name the private content found in a text, such as `a phone number`; None if nothing was found."""
    text = plain(text)
    for what, pattern in FOUND.items():
        if pattern.search(text):
            return what
    if (
        KEY.search(text)
        or any(map(_is_mixed, BASE64.findall(text)))
        or any(_looks_random(word) for word in WORD.findall(text))
    ):
        return "an id or a key"
    return None

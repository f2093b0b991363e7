"""Finds what must not leave a customer's workspace inside free text: addresses, numbers, names of accounts, keys.

It errs on the side of finding: what is found wrongly only asks the next customer to write a text anew.
"""

import html
import re
import unicodedata
from itertools import pairwise

from workspaces.automations.variables import without_variables

TIME_OF_DAY = re.compile(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
IDEOGRAPHIC_DOT = re.compile(r"(?<=[A-Za-z0-9])\u3002(?=[A-Za-z])")
WORD = re.compile(r"[\w\-]+")

EMAIL = re.compile(r"@\s?[\w\[]|\w\s?[(\[{]\s?at\s?[)\]}]\s?\w|\w\s+at\s+[\w-]+\s+dot\s+\w", re.IGNORECASE)
ADDRESS = re.compile(
    r"\w://|\bwww\.|\b(?:mailto|tel|sms|skype|callto|geo|javascript|data):\S|\blocalhost\b"
    r"|(?<![\w.\-])(?:[\w-]+\.)+(?:[^\W\d_]{2,63}|xn--[\w-]+)(?![\w])"
    r"|\w\s?[(\[{]\s?dot\s?[)\]}]\s?\w|\w\s+dot\s+\w"
    r"|(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)|[0-9a-f]{0,4}:[0-9a-f]{0,4}::?[0-9a-f]{1,4}",
    re.IGNORECASE,
)
# Seven digits or more with little between them; fewer after a word that announces a number.
NUMBER = re.compile(
    r"\d(?:[\W_]{0,3}\d){6,}"
    r"|\b(?:tel|telephone|phone|mobile|cell|call|dial|ring|fax|whatsapp|sms|number|no|nr|id|pin|code)\b\W{0,3}\+?"
    r"\d(?:[\W_]?\d){3,}"
    r"|\+\d(?:[\W_]{0,3}\d){3,}",
    re.IGNORECASE,
)
KEY = re.compile(
    r"(?<![A-Za-z])(?:svc|sk|pk|rk|whsec|ghp|gho|github_pat|xox[abp]|hf|shpat)[_-]\w{6,}"
    r"|(?<![A-Za-z])(?:api|key|tok|token|act|usr|acc|org|cus|sub|id)[_-](?=\w*\d)\w{4,}"
    r"|\b(?:AKIA|ASIA|AIza|ya29|EAA|eyJ)[\w.\-]{6,}|\bBearer\s+\S{6,}"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{20,}={1,2}",
    re.IGNORECASE,
)
FOUND = {"an e-mail address or account name": EMAIL, "a web address": ADDRESS, "a phone number": NUMBER}


def _looks_random(word: str) -> bool:
    digits = sum(character.isdigit() for character in word)
    letters = sum(character.isalpha() for character in word)
    if len(word) >= 8 and digits >= 3 and letters >= 1:
        return True
    if len(word) >= 16 and digits >= 1 and letters >= 1 and "-" not in word:
        return True
    turns = sum(a.islower() and b.isupper() for a, b in pairwise(word))
    return len(word) >= 12 and turns >= 3


def plain(text: str) -> str:
    """Give a text as it reads: one Unicode form, entities resolved, invisible characters and variables gone."""
    text = unicodedata.normalize("NFKC", html.unescape(text))
    text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return TIME_OF_DAY.sub(" h ", IDEOGRAPHIC_DOT.sub(".", without_variables(text)))


def private_content(text: str) -> str | None:
    """Say what a text holds that belongs to one customer, such as `a phone number`; None if nothing was found."""
    text = plain(text)
    for what, pattern in FOUND.items():
        if pattern.search(text):
            return what
    if KEY.search(text) or any(_looks_random(word) for word in WORD.findall(text)):
        return "an id or a key"
    return None

"""API keys: how they look, how one is made, and how a caller presents it."""

import hashlib
import re
import secrets
import string
import zlib

from django.http import HttpRequest

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_CHARACTERS = 34
CHECKSUM_CHARACTERS = 6
DISPLAY_CHARACTERS = 12
KEY_FORMAT = re.compile(r"(svc_(?:ag_)?)[0-9A-Za-z]{40}")


def checksum(text: str) -> str:
    """Give the CRC-32 of a key without its last six characters, prefix included, as six base62 digits."""
    number, digits = zlib.crc32(text.encode("ascii")), ""
    for _ in range(CHECKSUM_CHARACTERS):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def new_key(prefix: str) -> str:
    body = prefix + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARACTERS))
    return body + checksum(body)


def looks_like_key(prefix: str, text: str) -> bool:
    """Say whether a key may exist, without looking anything up: a mistyped or foreign one may not."""
    found = KEY_FORMAT.fullmatch(text)
    return (
        found is not None
        and found[1] == prefix
        and checksum(text[:-CHECKSUM_CHARACTERS]) == text[-CHECKSUM_CHARACTERS:]
    )


def key_digest(text: str) -> bytes:
    """Give what is stored instead of a key: its SHA-256, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def display_prefix(text: str) -> str:
    return text[:DISPLAY_CHARACTERS]


def presented_key(request: HttpRequest) -> str | None:
    """Give the text sent as a key: `x-api-key`, else the Bearer token; None where both are empty.

    Between scheme and token stands at least one space (RFC 9110, 11.4).
    """
    given: str = request.META.get("HTTP_X_API_KEY", "")
    if given.strip():
        return given
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return str(token).lstrip(" ")
    return None

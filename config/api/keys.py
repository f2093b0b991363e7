"""API keys: their format, how one is made, how a caller presents it, and from which networks it works."""

import hashlib
import re
import secrets
import string
import zlib
from ipaddress import IPv6Network, ip_network

from django.http import HttpRequest

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_CHARACTERS = 34
CHECKSUM_CHARACTERS = 6
DISPLAY_CHARACTERS = 12
KEY_FORMAT = re.compile(r"(svc_(?:ag_)?)[0-9A-Za-z]{40}")
MOST_NETWORKS = 20
LONGEST_NETWORK = 43
# The SQL condition that a row called `key` has the hash `%(digest)s` and may be used now from `%(address)s`. The
# address is NULL if it is not known.
IS_USABLE = """key.key_hash = %(digest)s AND key.revoked_at IS NULL
    AND (key.expires_at IS NULL OR key.expires_at > statement_timestamp())
    AND (cardinality(key.allowed_networks) = 0 OR %(address)s::inet <<= ANY (key.allowed_networks::cidr[]))"""


def checksum(text: str) -> str:
    """Return the CRC-32 of a key without its last six characters, prefix included, as six base62 digits."""
    number, digits = zlib.crc32(text.encode("ascii")), ""
    for _ in range(CHECKSUM_CHARACTERS):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def new_key(prefix: str) -> str:
    body = prefix + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARACTERS))
    return body + checksum(body)


def has_key_format(prefix: str, text: str) -> bool:
    """Return whether a key may exist, without a look-up. A mistyped or foreign key may not."""
    found = KEY_FORMAT.fullmatch(text)
    return (
        found is not None
        and found[1] == prefix
        and checksum(text[:-CHECKSUM_CHARACTERS]) == text[-CHECKSUM_CHARACTERS:]
    )


def key_digest(text: str) -> bytes:
    """Return what is stored instead of a key: its SHA-256, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def parse_network(text: str) -> str | None:
    """Return an address or a network (CIDR) in its canonical spelling; None for anything invalid or ambiguous.

    An address with bits set behind its prefix names no network. An IPv4 address must not be written as IPv6.
    """
    if "%" in text:
        return None
    try:
        network = ip_network(text)
    except ValueError:
        return None
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped:
        return None
    return str(network)


def display_prefix(text: str) -> str:
    return text[:DISPLAY_CHARACTERS]


def presented_key(request: HttpRequest) -> str | None:
    """Return the text sent as a key: `x-api-key`, else the Bearer token; None if both are empty.

    At least one space separates scheme and token (RFC 9110, 11.4).
    """
    given: str = request.META.get("HTTP_X_API_KEY", "")
    if given.strip():
        return given
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return str(token).lstrip(" ")
    return None

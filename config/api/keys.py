"""API keys: how they look, how one is made, how a caller presents it, and from where it works."""

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
# Whether a row called `key` may be used now, from this address: `%(digest)s`, and `%(address)s` or NULL for none known.
IS_USABLE = """key.key_hash = %(digest)s AND key.revoked_at IS NULL
    AND (key.expires_at IS NULL OR key.expires_at > statement_timestamp())
    AND (cardinality(key.allowed_networks) = 0 OR %(address)s::inet <<= ANY (key.allowed_networks::cidr[]))"""


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


def read_network(text: str) -> str | None:
    """Give an address or a network (CIDR) in its one spelling; None for what is none, or not told clearly.

    An address with bits behind its prefix names no network; one of IPv4 is not written as one of IPv6.
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

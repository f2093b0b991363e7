"""Tracked links: the addresses of a message that they replace, and the short signed link of each recipient.

A signed link needs no row before somebody follows it. The token holds the ids of broadcast and contact and the
address's number in the broadcast's frozen list, with a keyed tag of 48 bits, in base62.
"""

import hmac
import re
import string
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

import idna
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.encoding import iri_to_uri

from broadcasts.content import VARIABLE, FrozenMessage

PATH: Final = "/l/"
# A message's addresses beyond this number are sent as they are.
MOST_LINKS: Final = 64
LONGEST_ADDRESS: Final = 2_000
# An address may contain a variable. Whitespace, quotes, brackets, backslashes and controls end it. If a backslash or a
# lone brace follows, its end is uncertain, and it is not tracked.
ADDRESS: Final = re.compile(
    r"(?i:https?)://(?:\{\{[^{}\s]{1,80}\}\}|\{\{ [^{}]{1,80} \}\}|[^\s\x00-\x20\x7f<>\"`{}|\\^])++(?![\\{])"
)
# Characters that end a sentence or emphasise a word, and so are no part of an address.
TRAILING: Final = ".,;:!?'*_~…"
PAIRS: Final = {")": "(", "]": "["}

DIGITS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
VALUES: Final = {digit: value for value, digit in enumerate(DIGITS)}
# Eight digits at a time: a number that fits into a machine word is divided faster.
EIGHT: Final = 62**8
TWO: Final = [first + second for first in DIGITS for second in DIGITS]
TOKEN: Final = re.compile(r"[0-9A-Za-z]{10,36}", re.ASCII)
TAG_BITS: Final = 48
NUMBER_BITS: Final = 6
WIDTH_BITS: Final = 6
LARGEST_ID: Final = 2**63 - 1


class LinkToken(NamedTuple):
    """The content of a token."""

    broadcast_id: int
    contact_id: int
    number: int


# Addresses in a message -------------------------------------------------------------------------------


def links_in(message: Mapping[str, Any]) -> list[str]:
    """Return the addresses that can be tracked, each once: those in the text and in the template's text parameters."""
    found: list[str] = []
    _read(message.get("text") or "", found)
    _rewrite(message.get("components") or (), lambda text: _read(text, found), lambda _, text: text)
    return found


def with_tracked_links(
    text: str, template: Mapping[str, Any] | None, *, approved: Sequence[object] = (), base_urls: Collection[str] = ()
) -> tuple[str, Mapping[str, Any] | None, list[str]]:
    """Return the frozen text and template, with `{{link.N}}` for the address N, and the addresses.

    A URL button takes only the part after its approved address. If that address ends in our own `/l/`, and the
    parameter is an address, then the button gets only the token. `approved` are the synchronised template's components.
    """
    links: list[str] = []
    ours = _buttons_of_ours(approved, base_urls)

    def in_button(index: str, parameter: str) -> str:
        if index not in ours or not _is_address(parameter.strip()):
            return parameter
        number = _number_of(parameter.strip(), links)
        return parameter if number is None else f"{{{{token.{number}}}}}"

    text = _read(text, links)
    if template is not None:
        components = _rewrite(template.get("components") or (), lambda one: _read(one, links), in_button)
        template = {**template, "components": components}
    return text, template, links


def _read(text: str, links: list[str]) -> str:
    """Return the text with marks for its addresses, which are added to `links`."""

    def mark(found: re.Match[str]) -> str:
        address = _without_trailing(found[0])
        number = _number_of(address, links) if _is_address(address) else None
        return found[0] if number is None else f"{{{{link.{number}}}}}{found[0][len(address) :]}"

    return ADDRESS.sub(mark, text)


def _number_of(address: str, links: list[str]) -> int | None:
    if address in links:
        return links.index(address)
    if len(links) == MOST_LINKS:
        return None
    links.append(address)
    return len(links) - 1


def _rewrite(
    components: Sequence[object], in_text: Callable[[str], str], in_button: Callable[[str, str], str]
) -> list[object]:
    """Return components of the same form with other texts in their parameters; files and codes stay as they are."""
    written: list[object] = []
    for component in components:
        if not isinstance(component, Mapping):
            written.append(component)
            continue
        changed = dict(component)
        if isinstance(component.get("cards"), list):
            cards = [dict(card) if isinstance(card, Mapping) else card for card in component["cards"]]
            for card in cards:
                if isinstance(card, dict):
                    card["components"] = _rewrite(card.get("components") or (), in_text, lambda _, text: text)
            changed["cards"] = cards
        if isinstance(component.get("parameters"), list):
            write = _writer(component, in_text, in_button)
            changed["parameters"] = [_parameter(one, write) for one in component["parameters"]]
        written.append(changed)
    return written


def _writer(
    component: Mapping[str, object], in_text: Callable[[str], str], in_button: Callable[[str, str], str]
) -> Callable[[str], str]:
    if str(component.get("type", "")).lower() != "button":
        return in_text
    return lambda text: in_button(str(component.get("index", "")), text)


def _parameter(parameter: object, write: Callable[[str], str]) -> object:
    if isinstance(parameter, Mapping) and isinstance(parameter.get("text"), str):
        return {**parameter, "text": write(parameter["text"])}
    return parameter


def _buttons_of_ours(approved: Sequence[object], base_urls: Collection[str]) -> set[str]:
    """Return the indexes of a template's buttons whose address is that of tracked links."""
    found, addresses = set(), {f"{base_url}{PATH}{{{{1}}}}" for base_url in base_urls}
    for component in approved:
        if isinstance(component, Mapping) and str(component.get("type", "")).upper() == "BUTTONS":
            for index, button in enumerate(component.get("buttons") or ()):
                if isinstance(button, Mapping) and str(button.get("url")) in addresses:
                    found.add(str(index))
    return found


def _without_trailing(text: str) -> str:
    while text:
        last = text[-1]
        if last in TRAILING or (last in PAIRS and text.count(last) > text.count(PAIRS[last])):
            text = text[:-1]
        else:
            break
    return text


def _is_address(text: str) -> bool:
    return bool(ADDRESS.fullmatch(text)) and _split(text) is not None


# Where a link leads -----------------------------------------------------------------------------------


def target_of(frozen: FrozenMessage, number: int, values: Sequence[str] | None) -> str | None:
    """Return the address of a recipient's link: the one in the frozen list, with the contact's values filled in."""
    if number >= len(frozen.links):
        return None
    by_name = dict(zip(frozen.variables, values or (), strict=False))
    address = VARIABLE.sub(lambda found: quote(by_name.get(found[1], ""), safe=""), frozen.links[number])
    return _split(address)


@lru_cache(maxsize=1024)
def _split(address: str) -> str | None:
    """Return an address in the form for a header; None unless it is wholly http(s) to a fixed host."""
    if len(address) > LONGEST_ADDRESS:
        return None
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or "{" in parts.netloc or not host:
        return None
    name = _ascii_host(host)
    if name is None:
        return None
    netloc = name if port is None else f"{name}:{port}"
    # iri_to_uri leaves encoded parts alone, and encodes everything else that is not ASCII.
    return urlunsplit((parts.scheme, netloc, *(iri_to_uri(part) for part in (parts.path, parts.query, parts.fragment))))


def _ascii_host(host: str) -> str | None:
    try:
        if ":" in host:
            return f"[{IPv6Address(host)}]"
        return idna.encode(host, uts46=True, std3_rules=True).decode() if not host.isascii() else _plain_host(host)
    except (ValueError, UnicodeError):
        return None


def _plain_host(host: str) -> str | None:
    return host if re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_.])?", host) and ".." not in host else None


# Tokens -----------------------------------------------------------------------------------------------


def tracked_link(base_url: str, broadcast_id: int, contact_id: int, number: int) -> str:
    """Return this contact's link for the address `number`."""
    return f"{base_url}{PATH}{token_of(broadcast_id, contact_id, number)}"


def token_of(broadcast_id: int, contact_id: int, number: int) -> str:
    """Return the signed token of a recipient's link."""
    if not (0 < broadcast_id <= LARGEST_ID and 0 < contact_id <= LARGEST_ID and 0 <= number < MOST_LINKS):
        raise ValueError("no such link")
    width = contact_id.bit_length()
    packed = ((((broadcast_id << width) | contact_id) << WIDTH_BITS) | width) << NUMBER_BITS | number
    return _base62(packed << TAG_BITS | _tag(packed, _keys()[0]))


def read_token(token: str) -> LinkToken | None:
    """Return a token's content; None for a token that we have not signed."""
    if not TOKEN.fullmatch(token) or token[0] == "0":
        return None
    signed = 0
    for digit in token:
        signed = signed * 62 + VALUES[digit]
    packed, tag = signed >> TAG_BITS, signed & ((1 << TAG_BITS) - 1)
    if packed.bit_length() > 2 * 63 + WIDTH_BITS + NUMBER_BITS:
        return None
    given = tag.to_bytes(TAG_BITS // 8, "big")
    tags = [_tag(packed, key).to_bytes(TAG_BITS // 8, "big") for key in _keys()]
    if not any(hmac.compare_digest(given, one) for one in tags):
        return None
    number, packed = packed & (MOST_LINKS - 1), packed >> NUMBER_BITS
    width, packed = packed & ((1 << WIDTH_BITS) - 1), packed >> WIDTH_BITS
    return LinkToken(packed >> width, packed & ((1 << width) - 1), number)


def _base62(number: int) -> str:
    parts = []
    while number:
        number, eight = divmod(number, EIGHT)
        high, low = divmod(eight, 62**4)
        parts.append(TWO[high // 3844] + TWO[high % 3844] + TWO[low // 3844] + TWO[low % 3844])
    return "".join(reversed(parts)).lstrip("0")


def _tag(packed: int, key: bytes) -> int:
    mixed = hmac.digest(key, packed.to_bytes(18, "big"), "sha256")
    return int.from_bytes(mixed[: TAG_BITS // 8], "big")


def _keys() -> tuple[bytes, ...]:
    """The signing key, and the keys of earlier SECRET_KEYs, whose links still work."""
    return _derived((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=4)
def _derived(secrets: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(
        salted_hmac("broadcasts.tracked_links", "key", secret=secret, algorithm="sha256").digest() for secret in secrets
    )

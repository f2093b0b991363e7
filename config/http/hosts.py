"""Host names: one spelling for each, and which of them have a meaning only inside a network."""

import re
import unicodedata

import idna

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_LAST_LABEL_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IPV4 = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
_LONGEST_NAME = 253

# Top-level names reserved from the public tree, or never delegated because internal networks use them.
_INTERNAL_NAMES = frozenset(
    {
        *("alt", "arpa", "consul", "corp", "example", "home", "internal", "intranet", "invalid", "lan"),
        *("local", "localdomain", "localhost", "mail", "onion", "private", "svc", "test", "workgroup"),
    }
)


class HostInvalid(ValueError):
    """The host is neither a well-formed name nor a plainly written address."""


def is_plain_ipv4(host: str) -> bool:
    """Return whether a host is four decimal numbers without leading zeros. Their size is not checked."""
    return _IPV4.fullmatch(host) is not None


def ascii_host(host: str) -> str:
    """Return the host in lower-case ASCII without the root's dot, or a plain IPv4 address as it is.

    Raises HostInvalid, also for addresses in any other spelling (short, decimal, octal, hexadecimal, in foreign
    digits), because programs read these differently.
    """
    if is_plain_ipv4(host):
        return host
    name = _to_ascii(host).removesuffix(".")
    labels = name.split(".")
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise HostInvalid
    if _LAST_LABEL_NUMBER.fullmatch(labels[-1]):
        raise HostInvalid
    return name


def is_internal_name(name: str) -> bool:
    """Return whether a name has no meaning in public DNS: a single label, or below a special-use name."""
    top = name.rpartition(".")[2]
    return top == name or top in _INTERNAL_NAMES


def _to_ascii(host: str) -> str:
    name = unicodedata.normalize("NFKC", host).lower()
    if name.isascii() and "xn--" not in name:
        return name
    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise HostInvalid from error

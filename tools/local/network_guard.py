"""Keeps tests on this machine: code that connects elsewhere, or looks up a name elsewhere, gets an error."""

import socket
import sys
from ipaddress import IPv6Address, ip_address
from typing import Any

INTERNET = (socket.AF_INET, socket.AF_INET6)
TO_AN_ADDRESS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
BY_NAME = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
WATCHED = TO_AN_ADDRESS | BY_NAME


class OutsideNetwork(RuntimeError):
    """A test reached outside this machine. It is no `OSError`: code must not take it for a network failure."""


def install() -> None:
    """Guard this process from now on. An audit hook cannot be removed again."""
    sys.addaudithook(_watch)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in WATCHED:  # Python reports even every `id()`, so the common case must be cheap
        return
    if event in TO_AN_ADDRESS:
        connection, address = arguments
        if connection.family in INTERNET and address is not None and not is_here(address[0]):
            raise OutsideNetwork(f"A test connects to {address[0]}; tests stay on this machine.")
    else:
        _check_name(arguments[0])


def _check_name(host: str | bytes | None) -> None:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if not name or name == "localhost" or is_address(name):
        return
    if name == socket.gethostname():
        # The standard library asks for the machine's full name, and copes without an answer.
        raise socket.gaierror(socket.EAI_NONAME, "tests do not look up the machine's own name")
    raise OutsideNetwork(f"A test looks up {name!r}; tests stay on this machine.")


def is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def is_here(host: str) -> bool:
    """Say whether an address is on this machine. A name counts as one, because its look-up is checked separately."""
    if not is_address(host):
        return True
    address = ip_address(host.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback or address.is_unspecified

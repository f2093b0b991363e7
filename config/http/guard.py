"""The guard: which URLs may be posted to. It runs when an endpoint is saved, tested and delivered to."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from config.http.addresses import Network, canonical, is_allowed, is_public
from config.http.targets import Target, TargetRefused, parse_target

# One text for every refused host, so that answers do not map the inside of a network.
UNREACHABLE_HOST = "The URL's host must be publicly reachable."
NO_ADDRESS = "The URL's host has no address right now."


class VettedTarget(NamedTuple):
    """A target and the addresses at which it may be reached: at least one, and each was checked."""

    target: Target
    addresses: tuple[str, ...]


def check_addresses(target: Target, addresses: Sequence[str], *, allowed: Sequence[Network] = ()) -> VettedTarget:
    """Accept a target with the addresses of its name, or raise TargetRefused.

    Every address must be public or in an allowed network. For a name that means nothing in public DNS, all addresses
    must be in allowed networks.
    """
    try:
        spelled = tuple(dict.fromkeys(canonical(address) for address in addresses))
    except ValueError as error:
        raise TargetRefused(UNREACHABLE_HOST) from error
    if not spelled:
        raise TargetRefused(NO_ADDRESS)
    if not all(_passes(address, target, allowed) for address in spelled):
        raise TargetRefused(UNREACHABLE_HOST)
    return VettedTarget(target, spelled)


def check_without_lookup(target: Target, *, allowed: Sequence[Network] = ()) -> VettedTarget | None:
    """Check what needs no name server; None for a name that must be looked up.

    Raises TargetRefused. Internal names are looked up only if the installation allows networks.
    """
    if target.address is not None:
        return check_addresses(target, [target.address], allowed=allowed)
    if target.is_internal and not allowed:
        raise TargetRefused(UNREACHABLE_HOST)
    return None


def check_url(url: str, *, allowed: Sequence[Network] = (), resolve: Callable[[str], Sequence[str]]) -> VettedTarget:
    """Parse a URL, look its host up if it is a name, and check the addresses.

    Raises TargetRefused, and whatever `resolve` raises if the look-up fails.
    """
    return check_target(parse_target(url), allowed=allowed, resolve=resolve)


def check_target(
    target: Target, *, allowed: Sequence[Network] = (), resolve: Callable[[str], Sequence[str]]
) -> VettedTarget:
    """Look a target's host up if it is a name, and check the addresses. Raises the same as `check_url`."""
    at_sight = check_without_lookup(target, allowed=allowed)
    return at_sight or check_addresses(target, resolve(target.host), allowed=allowed)


def _passes(address: str, target: Target, allowed: Sequence[Network]) -> bool:
    if not target.is_internal and is_public(address):
        return True
    return bool(allowed) and is_allowed(address, allowed)

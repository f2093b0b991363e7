"""Decides who may call the control endpoint: programs of this machine that use its own name, and no foreign page."""

from email.message import Message
from ipaddress import ip_address
from typing import Final

NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
OWN_PAGES: Final = frozenset({"same-origin", "none"})


def refusal(headers: Message, *, peer: str, address: str, port: int) -> str | None:
    """Say why a caller is refused, or give None. `address` and `port` are the ones that the caller reached.

    A web page can make a browser post here: the browser then names the page in `Origin` and `Sec-Fetch-Site`. It can
    also let its own name resolve to this address: the browser then sends that name in `Host`.
    """
    if not is_this_machine(peer, address):
        return "Only this machine may ask."
    hosts = {f"{name}:{port}" for name in (*NAMES, f"[{address}]" if ":" in address else address)}
    if [host.lower() for host in headers.get_all("Host", [])] not in [[host] for host in hosts]:
        return f"Ask by this machine's own name, such as {NAMES[0]}:{port}."
    schemes = ("http", "https")
    origins = {f"{scheme}://{host}" for scheme in schemes for host in hosts}
    if any(origin not in origins for origin in headers.get_all("Origin", [])):
        return "No page of another site may ask."
    if any(site not in OWN_PAGES for site in headers.get_all("Sec-Fetch-Site", [])):
        return "No page of another site may ask."
    return None


def is_this_machine(peer: str, address: str) -> bool:
    """Say whether a connection comes from this machine: over loopback, or from the address that it reached."""
    return peer == address or ip_address(peer.partition("%")[0]).is_loopback

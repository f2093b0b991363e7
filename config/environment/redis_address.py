"""Reads REDIS_URL: the address of one server, or of the Sentinels that know the current primary server.

    redis://user:password@host:6379/0      rediss://…      unix:///path?db=0
    sentinel://user:password@one:26379,two:26379,three:26379/0?primary=name

User and password of the last form are the servers'. `sentinel_user` and `sentinel_password` are the Sentinels'.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

SENTINEL = "sentinel"
SENTINEL_PORT = 26379


@dataclass(frozen=True)
class SentinelAddress:
    """The Sentinels' hosts, their name for the primary server, and the connection options of servers and Sentinels."""

    nodes: tuple[tuple[str, int], ...]
    primary: str
    server: Mapping[str, Any]
    sentinel: Mapping[str, Any]


def sentinel_address(url: str) -> SentinelAddress | None:
    """Parse the form with Sentinels; None for one server. Raises `ValueError` if a part is missing."""
    parts = urlsplit(url)
    if parts.scheme != SENTINEL:
        return None
    options = dict(parse_qsl(parts.query))
    credentials, _, hosts = parts.netloc.rpartition("@")
    nodes = tuple(_node(host) for host in hosts.split(",") if host)
    if not nodes or not options.get("primary"):
        raise ValueError("An address of Sentinels names at least one host, and ?primary=NAME.")
    user, _, password = credentials.partition(":")
    server = {"db": int(parts.path.strip("/") or 0), "username": unquote(user), "password": unquote(password)}
    own = {"username": options.get("sentinel_user"), "password": options.get("sentinel_password")}
    return SentinelAddress(nodes, options["primary"], _given(server), _given(own))


def _node(host: str) -> tuple[str, int]:
    name, _, port = host.rpartition(":") if ":" in host else (host, "", "")
    return name, int(port or SENTINEL_PORT)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value not in (None, "")}


def celery_broker(url: str) -> tuple[str, dict[str, Any]]:
    """Return Celery's spelling of a Redis address, and the transport options for it."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        database = dict(parse_qsl(parts.query)).get("db", "0")
        return f"redis+socket://{parts.path}?virtual_host={database}", {}
    address = sentinel_address(url)
    if address is None:
        return url, {}
    user, password = (quote(str(address.server.get(name, "")), safe="") for name in ("username", "password"))
    credentials = f"{user}:{password}@" if user or password else ""
    database = address.server.get("db", 0)
    nodes = ";".join(f"{SENTINEL}://{credentials}{host}:{port}/{database}" for host, port in address.nodes)
    return nodes, {"master_name": address.primary, "sentinel_kwargs": dict(address.sentinel)}

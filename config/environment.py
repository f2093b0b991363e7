"""Reads the settings from environment variables, and refuses dangerous ones in production.

Each danger is declared once and stops the start with a sentence.
"""

import base64
import binascii
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

SHORTEST_KEY = 50
# 50 random characters do not compress to less than this. A repeated word does.
LEAST_COMPRESSED = 32
# 32 random bytes have at least this many different ones. 32 typed characters have fewer, and so do 32 zeros.
LEAST_BYTES = 20
HOST = re.compile(r"[a-z0-9.-]+|\[[0-9a-f:.]+\]")
DEFAULT_PASSWORDS = frozenset(
    {
        "postgres",
        "password",
        "passwd",
        "secret",
        "changeme",
        "change-me",
        "example",
        "admin",
        "root",
        "test",
        "guest",
        "123456",
    }
)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
LINK_LOCAL = (ip_network("169.254.0.0/16"), ip_network("fe80::/10"))

Given = Mapping[str, str]


class UnsafeSetting(NamedTuple):
    """A variable, a function that says whether its value is dangerous among all given values, and a sentence for it."""

    name: str
    is_in: Callable[[str, Given], bool]
    sentence: str


def unsafe_settings(given: Given) -> list[str]:
    """Return a sentence for each dangerous variable. Values may be secret and are never quoted."""
    return [
        f"{danger.name} {danger.sentence}"
        for danger in UNSAFE_SETTINGS
        if given.get(danger.name) and danger.is_in(given[danger.name], given)
    ]


def _is_guessable(key: str, _: Given) -> bool:
    is_repetitive = len(zlib.compress(key.encode(), 9)) < LEAST_COMPRESSED
    return len(key) < SHORTEST_KEY or is_repetitive or key.startswith("django-insecure-")


def _has_guessable_key(keys: str, given: Given) -> bool:
    return any(_is_guessable(key, given) for key in _items(keys))


def _has_weak_key(keys: str, _: Given) -> bool:
    return any(_is_weak_fernet_key(key.strip()) for key in keys.split(",") if key.strip())


def _is_weak_fernet_key(key: str) -> bool:
    try:
        raw = base64.b64decode(key.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return True
    return len(raw) != 32 or len(set(raw)) < LEAST_BYTES


def _is_no_https_origin(url: str, _: Given) -> bool:
    try:
        parts = urlsplit(url.rstrip("/"))
        host = parts.netloc.rpartition("@")[2].removesuffix(f":{parts.port}")
    except ValueError:
        return True
    has_more = bool(parts.path or parts.query or parts.fragment or parts.username is not None)
    return parts.scheme != "https" or has_more or not HOST.fullmatch(host.lower())


def _is_plain_http(url: str, _: Given) -> bool:
    return not url.startswith("https://")


def _names_any_host(hosts: str, _: Given) -> bool:
    return any("*" in host or (host.startswith(".") and "." not in host[1:]) for host in _items(hosts))


def _reaches_link_local(networks: str, _: Given) -> bool:
    return any(_overlaps_link_local(network) for network in _items(networks))


def _overlaps_link_local(text: str) -> bool:
    try:
        network = ip_network(text)
    except ValueError:  # reported already
        return False
    return any(network.version == local.version and network.overlaps(local) for local in LINK_LOCAL)


def _has_default_password(url: str, _: Given) -> bool:
    user, password, database = _account_of(url)
    return bool(password) and password.lower() in DEFAULT_PASSWORDS | {user.lower(), database.lower()}


def _account_of(url: str) -> tuple[str, str, str]:
    """Return user, password and database from a server's address."""
    if "://" not in url or url.startswith("postgres"):
        try:
            found = conninfo_to_dict(url)
        except ProgrammingError:  # reported already
            return "", "", ""
        return str(found.get("user") or ""), str(found.get("password") or ""), str(found.get("dbname") or "")
    account, _, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = account.partition(":")
    return unquote(user), unquote(password), ""


def _is_sent_in_the_clear(password: str, given: Given) -> bool:
    is_away = given.get("EMAIL_HOST", "") not in LOOPBACK
    return is_away and given.get("EMAIL_USE_TLS", "true").lower() == "false"


def _is_on(value: str, _: Given) -> bool:
    return value.strip().lower() in {"1", "true", "yes", "on"}


def _is_relative(path: str, _: Given) -> bool:
    return not path.startswith("/")


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


EASILY_GUESSED = "holds a default password, or the user's own name as one: choose a random password."
TOKENS_GO_THERE = "must begin with https://: customers' tokens go there."

UNSAFE_SETTINGS = (
    UnsafeSetting("DEBUG", _is_on, "must not be on: this product never shows its faults to those who ask."),
    UnsafeSetting(
        "SECRET_KEY", _is_guessable, "is short, repetitive or an example: 50 or more random characters are needed."
    ),
    UnsafeSetting("SECRET_KEY_FALLBACKS", _has_guessable_key, "holds a key that is short, repetitive or an example."),
    UnsafeSetting(
        "FIELD_ENCRYPTION_KEYS", _has_weak_key, "holds what is no Fernet key, or one that was not made at random."
    ),
    UnsafeSetting(
        "PUBLIC_URL", _is_no_https_origin, "must be https:// and a host, and no more: sessions and links go there."
    ),
    UnsafeSetting("HOSTS", _names_any_host, "must name the hosts: neither * nor a whole top-level domain."),
    UnsafeSetting(
        "WEBHOOK_ALLOWED_NETWORKS", _reaches_link_local, "reaches link-local addresses, where clouds keep secrets."
    ),
    UnsafeSetting("DATABASE_URL", _has_default_password, EASILY_GUESSED),
    UnsafeSetting("DATABASE_DIRECT_URL", _has_default_password, EASILY_GUESSED),
    UnsafeSetting("REDIS_URL", _has_default_password, EASILY_GUESSED),
    UnsafeSetting("CELERY_BROKER_URL", _has_default_password, EASILY_GUESSED),
    UnsafeSetting(
        "EMAIL_HOST_PASSWORD", _is_sent_in_the_clear, "goes to EMAIL_HOST in the clear: EMAIL_USE_TLS must be true."
    ),
    UnsafeSetting("MEDIA_DIRECTORY", _is_relative, "must be a whole path, and one that all hosts share."),
    UnsafeSetting("META_GRAPH_URL", _is_plain_http, TOKENS_GO_THERE),
    UnsafeSetting("META_DIALOG_URL", _is_plain_http, TOKENS_GO_THERE),
    UnsafeSetting("STRIPE_API_URL", _is_plain_http, "must begin with https://: customers' keys go there."),
)


# redis://user:password@host:6379/0 rediss://… unix:///path?db=0
# sentinel://user:password@one:26379,two:26379,three:26379/0?primary=name User and password of the last form are the
# servers'. `sentinel_user` and `sentinel_password` are the Sentinels'.

SENTINEL = "sentinel"
SENTINEL_PORT = 26379


@dataclass(frozen=True)
class SentinelAddress:
    """The Sentinels' hosts, their name for the primary server, and the connection options of servers and Sentinels."""

    nodes: tuple[tuple[str, int], ...]
    primary: str
    server: Mapping[str, Any]
    sentinel: Mapping[str, object]


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


def _given(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value not in (None, "")}


def celery_broker(url: str) -> tuple[str, dict[str, object]]:
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


Network = IPv4Network | IPv6Network
WIDEST_IPV4 = 8  # 10.0.0.0/8
WIDEST_IPV6 = 7  # fc00::/7
IN_PRODUCTION = "In production they stand in /etc/agency/environment, or in the file of --env-file for Compose."
IN_DEVELOPMENT = "In development, `make run` sets all of them, and `make manage` runs a command with them."
IPV4_MAPPED = IPv6Network("::ffff:0:0/96")


def process_name(command: Sequence[str]) -> str:
    """Return a process's name by its command: web, worker, beat or manage. PostgreSQL shows it for connections."""
    program = PurePath(command[0]).name if command else ""
    if command and "celery" in command[0]:
        return "beat" if "beat" in command else "worker"
    return "manage" if program == "manage.py" else "web"


def holds_the_internet(network: Network) -> bool:
    """Return whether a network is wider than any that one owner has. IPv4 written as IPv6 is measured as IPv4."""
    if isinstance(network, IPv6Network) and network.subnet_of(IPV4_MAPPED):
        return network.prefixlen - IPV4_MAPPED.prefixlen < WIDEST_IPV4
    return network.prefixlen < (WIDEST_IPV6 if isinstance(network, IPv6Network) else WIDEST_IPV4)


class Environment:
    """Collects missing and malformed variables, so that one start shows all of them."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self.values = dict(os.environ) if values is None else values
        self.complaints: list[str] = []

    def text(self, name: str, default: str | None = None, *, purpose: str = "") -> str:
        value = self.values.get(name, "")
        if value:
            return value
        if default is None:
            self.complaints.append(f"{name} is not set: {purpose or 'it is needed here'}.")
            return ""
        return default

    def comma_separated(self, name: str, default: str = "") -> list[str]:
        return [item.strip() for item in self.text(name, default).split(",") if item.strip()]

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        value = self.text(name, str(default))
        try:
            number = int(value)
        except ValueError:
            self.complaints.append(f"{name} must be a whole number, not {value!r}.")
            return default
        if number < least:
            self.complaints.append(f"{name} must be {least} or more, not {number}.")
        return number

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.text(name, "true" if default else "false").lower()
        if value not in {"true", "false"}:
            self.complaints.append(f"{name} must be true or false, not {value!r}.")
        return value == "true"

    def networks(self, name: str, default: str = "") -> list[Network]:
        found: list[Network] = []
        for item in self.comma_separated(name, default):
            try:
                network = ip_network(item)
            except ValueError:
                self.complaints.append(f"{name} holds {item!r}, which is not a network such as 10.0.0.0/8.")
                continue
            if holds_the_internet(network):
                self.complaints.append(f"{name} holds {item!r}, which is much of the internet: name your own networks.")
            found.append(network)
        return found

    def addresses(self, name: str) -> list[str]:
        return [address for item in self.comma_separated(name) if (address := self._address(name, item))]

    def servers(self, name: str, *, port: int) -> list[tuple[str, int]]:
        """Return servers as address and port, from `192.0.2.53`, `192.0.2.53:5353` or `[2001:db8::53]:5353`."""
        found: list[tuple[str, int]] = []
        for item in self.comma_separated(name):
            host, colon, number = item.rpartition(":") if item.count(":") == 1 or "]:" in item else (item, "", "")
            address = self._address(name, host.strip("[]"))
            if colon and not number.isdecimal():
                self.complaints.append(f"{name} holds {item!r}, whose port is no number.")
            elif address:
                found.append((address, int(number or port)))
        return found

    def _address(self, name: str, item: str) -> str:
        try:
            return str(ip_address(item))
        except ValueError:
            self.complaints.append(f"{name} holds {item!r}, which is not an IP address.")
            return ""

    def database(self, url: str) -> dict[str, Any]:
        """Return the parts of a libpq address. A malformed address may hold a password and is never quoted."""
        try:
            return conninfo_to_dict(url)
        except ProgrammingError:
            self.complaints.append("DATABASE_URL is not an address such as postgresql://user@host:5432/name.")
            return {}

    def one_of(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, choices[0])
        if value not in choices:
            self.complaints.append(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
        return value

    def check(self) -> None:
        if self.complaints:
            raise ImproperlyConfigured("\n".join([*self.complaints, self._advice()]))

    def _advice(self) -> str:
        """Say where variables are set. If ENVIRONMENT is not set, both places are named."""
        named = self.values.get("ENVIRONMENT")
        sentences = [IN_PRODUCTION] if named in (None, "", "production") else []
        sentences += [IN_DEVELOPMENT] if named != "production" else []
        return " ".join([*sentences, "docs/operations.md explains each."])

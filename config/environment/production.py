"""Dangerous settings in production. Each danger is declared once and stops the start with a sentence."""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

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


class Danger(NamedTuple):
    """A variable, a function that says whether its value is dangerous among all given values, and a sentence for it."""

    name: str
    is_in: Callable[[str, Given], bool]
    sentence: str


def dangers(given: Given) -> list[str]:
    """Return a sentence for each dangerous variable. Values may be secret and are never quoted."""
    return [
        f"{danger.name} {danger.sentence}"
        for danger in DANGERS
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

DANGERS = (
    Danger("DEBUG", _is_on, "must not be on: this product never shows its faults to those who ask."),
    Danger("SECRET_KEY", _is_guessable, "is short, repetitive or an example: 50 or more random characters are needed."),
    Danger("SECRET_KEY_FALLBACKS", _has_guessable_key, "holds a key that is short, repetitive or an example."),
    Danger("FIELD_ENCRYPTION_KEYS", _has_weak_key, "holds what is no Fernet key, or one that was not made at random."),
    Danger("PUBLIC_URL", _is_no_https_origin, "must be https:// and a host, and no more: sessions and links go there."),
    Danger("HOSTS", _names_any_host, "must name the hosts: neither * nor a whole top-level domain."),
    Danger("WEBHOOK_ALLOWED_NETWORKS", _reaches_link_local, "reaches link-local addresses, where clouds keep secrets."),
    Danger("DATABASE_URL", _has_default_password, EASILY_GUESSED),
    Danger("DATABASE_DIRECT_URL", _has_default_password, EASILY_GUESSED),
    Danger("REDIS_URL", _has_default_password, EASILY_GUESSED),
    Danger("CELERY_BROKER_URL", _has_default_password, EASILY_GUESSED),
    Danger(
        "EMAIL_HOST_PASSWORD", _is_sent_in_the_clear, "goes to EMAIL_HOST in the clear: EMAIL_USE_TLS must be true."
    ),
    Danger("MEDIA_DIRECTORY", _is_relative, "must be a whole path, and one that all hosts share."),
    Danger("META_GRAPH_URL", _is_plain_http, TOKENS_GO_THERE),
    Danger("META_DIALOG_URL", _is_plain_http, TOKENS_GO_THERE),
)

"""Reads settings from environment variables, and names every missing one in a sentence."""

import os
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import PurePath
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

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

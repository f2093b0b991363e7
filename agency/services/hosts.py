"""Which agency a host belongs to, and the addresses of an agency's customers, from this process's memory.

Each process keeps all verified hosts, so that an unknown host needs no query either. A change drops them in the
process that made it. PostgreSQL notifies every other process of the commit, and the process reads them again. A
process without notifications reads them again after `LONGEST_AGE_SECONDS`.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from psycopg.conninfo import conninfo_to_dict

from config.leases.connections import Connection, DatabaseThread, open_connection

# The channel that the table's trigger notifies (migration 0002).
CHANNEL: Final = "agency_domains"
# How often everything is read again without a notification, which also shows that a connection is dead.
REREAD_SECONDS: Final = 10.0


class DomainListener(DatabaseThread):
    """A thread with its own connection to PostgreSQL itself, as a pooler would lose notifications.

    `reread` is called when the connection is made, on every change, and after `REREAD_SECONDS`.
    """

    name = "domain listener"

    def __init__(self, reread: Callable[[Any], None]) -> None:
        super().__init__(run=0)
        self._reread = reread

    def connect(self) -> Connection:
        direct = conninfo_to_dict(settings.DATABASE_DIRECT_URL) if settings.IS_POOLED else {}
        return open_connection(self.name, **direct)

    def on_connect(self, connection: Connection) -> None:
        connection.execute(f"LISTEN {CHANNEL}")

    def work(self) -> None:
        connection = self.connection
        with connection.cursor() as cursor:
            self._reread(cursor)
        for _ in connection.notifies(timeout=REREAD_SECONDS, stop_after=1):
            pass


logger = logging.getLogger(__name__)

LONGEST_AGE_SECONDS: Final = 20.0
READ: Final = """
SELECT host, agency_id, is_primary, language
FROM agency_domain JOIN agency_agency ON agency_agency.id = agency_id WHERE state = 'verified'
"""


@dataclass(frozen=True, slots=True)
class VerifiedHosts:
    """All verified hosts at one moment: each host's agency, and each agency's primary host and language."""

    agencies: dict[str, int] = field(default_factory=dict)
    primaries: dict[int, str] = field(default_factory=dict)
    languages: dict[int, str] = field(default_factory=dict)


def read_hosts(cursor: Any) -> VerifiedHosts:
    """Read all verified hosts, over Django's connection or the listener's."""
    cursor.execute(READ)
    rows = cursor.fetchall()
    return VerifiedHosts(
        {host: agency_id for host, agency_id, _, _ in rows},
        {agency_id: host for host, agency_id, is_primary, _ in rows if is_primary},
        {agency_id: language for _, agency_id, _, language in rows},
    )


class HostCache:
    """This process's copy of the verified hosts. By `_generation` it discards rows read before a notified change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = 0
        self._hosts: VerifiedHosts | None = None
        self._fresh_until = 0.0
        self._listener: DomainListener | None = None

    @property
    def hosts(self) -> VerifiedHosts:
        if self._listener is None and settings.DOMAIN_CHANGES_ARE_HEARD:
            self._listen()
        hosts = self._hosts
        if hosts is not None and (time.monotonic() < self._fresh_until or self._listener is None):
            return hosts
        return self._read(hosts)

    @property
    def remembered(self) -> VerifiedHosts | None:
        """The hosts that this process knows without a query; None if it knows none, or they are out of date."""
        is_fresh = time.monotonic() < self._fresh_until or self._listener is None
        return self._hosts if is_fresh else None

    def keep(self, hosts: VerifiedHosts, generation: int | None = None) -> None:
        """Keep the hosts that were read, unless a change has been notified since `generation`."""
        with self._lock:
            if generation is None or generation == self._generation:
                self._hosts, self._fresh_until = hosts, time.monotonic() + LONGEST_AGE_SECONDS

    def change_heard(self) -> int:
        """Discard reads in progress; the kept hosts are served until they are replaced. Returns the new generation."""
        with self._lock:
            self._generation += 1
            return self._generation

    def drop(self) -> None:
        """Make the next look-up read again."""
        with self._lock:
            self._generation += 1
            self._hosts = None

    def _read(self, old: VerifiedHosts | None) -> VerifiedHosts:
        """Read in the caller's own thread; while the database is away, hosts that are out of date are still served."""
        generation = self._generation
        if old is not None:
            self.keep(old, generation)  # meanwhile the other threads use the old hosts
        try:
            with connection.cursor() as cursor:
                hosts = read_hosts(cursor)
        except DatabaseError:
            if old is None:
                raise
            logger.warning("verified hosts are out of date")
            return old
        self.keep(hosts, generation)
        return hosts

    def _listen(self) -> None:
        with self._lock:
            if self._listener is None:
                self._listener = DomainListener(self._reread)
                self._listener.thread.start()

    def _reread(self, cursor: Any) -> None:
        generation = self.change_heard()
        self.keep(read_hosts(cursor), generation)


cache = HostCache()


def _forget_after_fork() -> None:
    """Begin with a new cache, as the listening thread belongs to the parent process."""
    global cache
    cache = HostCache()


os.register_at_fork(after_in_child=_forget_after_fork)


def notify_host_change() -> None:
    """Make every process read again once this transaction is committed, for a change that touches no domain's row."""
    invalidate_hosts()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify('agency_domains', '')")


def invalidate_hosts() -> None:
    """Make this process read again now and after the commit; other processes are notified of the commit."""
    cache.drop()
    transaction.on_commit(_drop_after_commit)


def _drop_after_commit() -> None:
    cache.drop()


def agency_of_host(host: str) -> int | None:
    """Return the id of the agency that has this host (lower case, without a port) verified."""
    return cache.hosts.agencies.get(host)


def cached_agencies_by_host() -> Mapping[str, int] | None:
    """Return the agency's id for each verified host if this process knows them without a query, else None."""
    hosts = cache.remembered
    return None if hosts is None else hosts.agencies


def language_of_host(agency_id: int | None) -> str:
    """Return the language of the agency whose host it is; empty if it chose none."""
    return "" if agency_id is None else cache.hosts.languages.get(agency_id, "")


def base_url_of(agency_id: int | None) -> str:
    """Return the base address of this agency's customers: its primary host, else the installation's own address."""
    host = None if agency_id is None else cache.hosts.primaries.get(agency_id)
    return str(settings.PUBLIC_URL) if host is None else url_of_host(host)


def hosts_of(agency_id: int) -> list[str]:
    """Return the agency's verified hosts."""
    return [host for host, owner in cache.hosts.agencies.items() if owner == agency_id]


def base_urls_of(agency_id: int) -> list[str]:
    """Return every base address that links to this agency's customers may have, the installation's own first."""
    return [str(settings.PUBLIC_URL), *map(url_of_host, hosts_of(agency_id))]


def url_of_host(host: str) -> str:
    """Return the address of a verified host; without https, as in development, it has the installation's port."""
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme == "https":
        return f"https://{host}"
    return f"http://{host}:{public.port}" if public.port else f"http://{host}"

"""Which agency a host belongs to, and where an agency's customers go: from this process's memory, without a query.

All verified hosts are kept together, so that a host which nobody has costs nothing either. A change drops them in the
process that made it; every other process hears of it from PostgreSQL as it is committed (`listening.py`), and reads
anew. A process that hears nothing for `LONGEST_AGE_SECONDS` asks by itself.
"""

import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from agency.services.domains.listening import DomainListener

logger = logging.getLogger(__name__)

LONGEST_AGE_SECONDS: Final = 20.0
READ: Final = """
SELECT host, agency_id, is_primary, language
FROM agency_domain JOIN agency_agency ON agency_agency.id = agency_id WHERE state = 'verified'
"""


@dataclass(frozen=True, slots=True)
class VerifiedHosts:
    """All of them at one moment: the agency of each host, and the primary host and the language of each agency."""

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
    """This process's copy. What was read before a change was heard of is never kept after it: `_generation` tells."""

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
        """What this process knows without asking; None when that is nothing, or old."""
        is_fresh = time.monotonic() < self._fresh_until or self._listener is None
        return self._hosts if is_fresh else None

    def keep(self, hosts: VerifiedHosts, generation: int | None = None) -> None:
        """Keep what was read, unless a change was heard of since `generation`."""
        with self._lock:
            if generation is None or generation == self._generation:
                self._hosts, self._fresh_until = hosts, time.monotonic() + LONGEST_AGE_SECONDS

    def change_heard(self) -> int:
        """Let go of whatever is being read; what is kept is served until it is replaced. Gives the new generation."""
        with self._lock:
            self._generation += 1
            return self._generation

    def drop(self) -> None:
        """Have the next look-up read anew."""
        with self._lock:
            self._generation += 1
            self._hosts = None

    def _read(self, old: VerifiedHosts | None) -> VerifiedHosts:
        """Read in the caller's own thread; what is only old is served on while the database is away."""
        generation = self._generation
        if old is not None:
            self.keep(old, generation)  # meanwhile the other threads go on with what there is
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
    """Begin anew: the thread that listened is the parent's."""
    global cache
    cache = HostCache()


os.register_at_fork(after_in_child=_forget_after_fork)


def tell_all_to_read_anew() -> None:
    """Have every process read anew once this transaction is committed, where no row of a domain changes."""
    drop_hosts()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify('agency_domains', '')")


def drop_hosts() -> None:
    """Have this process read anew at once, and again after the commit; the others hear of the commit by themselves."""
    cache.drop()
    transaction.on_commit(_drop_after_commit)


def _drop_after_commit() -> None:
    cache.drop()


def agency_of_host(host: str) -> int | None:
    """Give the id of the agency that has this host, in lower case and without a port, verified."""
    return cache.hosts.agencies.get(host)


def remembered_agencies() -> Mapping[str, int] | None:
    """Give the agency's id for each verified host as this process knows it without asking; None where it does not."""
    hosts = cache.remembered
    return None if hosts is None else hosts.agencies


def language_of_host(agency_id: int | None) -> str:
    """Give the language of the agency whose host it is; empty where it chose none."""
    return "" if agency_id is None else cache.hosts.languages.get(agency_id, "")


def base_url_of(agency_id: int | None) -> str:
    """Give where the pages of this agency's customers are: its primary host, else the installation's own address."""
    host = None if agency_id is None else cache.hosts.primaries.get(agency_id)
    return str(settings.PUBLIC_URL) if host is None else url_of_host(host)


def hosts_of(agency_id: int) -> list[str]:
    """Give the agency's verified hosts."""
    return [host for host, owner in cache.hosts.agencies.items() if owner == agency_id]


def base_urls_of(agency_id: int) -> list[str]:
    """Give every address that links to this agency's customers may begin with, the installation's own first."""
    return [str(settings.PUBLIC_URL), *map(url_of_host, hosts_of(agency_id))]


def url_of_host(host: str) -> str:
    """Give the address of a verified host. An installation without https, for trying out, has its port there, too."""
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme == "https":
        return f"https://{host}"
    return f"http://{host}:{public.port}" if public.port else f"http://{host}"

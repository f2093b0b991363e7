"""The interface of a source of messages, whose rows the sender sends.

People's messages are one source, automations' another, broadcasts a third. A source owns its rows; the sender knows
channels, rates, calls and errors. To add a source, write these methods over its table, and add it to `message_sources`
in the app's `hooks.py`.
The lower `priority` is claimed first, whatever waits elsewhere. 0 is for messages that people wait for; all other
sources leave a tenth of every limit to these.

A source keeps these rules. A claim is committed before `claim` returns. A row that a run has claimed is never given
to another run, unless `give_back` or a `retry` says that the provider cannot have it. The claims of a dead run become
unknown, wait for the provider's status, and fail with `send_outcome_unknown` after `UNKNOWN_SECONDS`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple, Protocol

import psycopg
from django.db import Error, transaction
from django.db import connection as project
from django.db.backends.utils import CursorWrapper

from channelconnect.providers.message_results import Outcome
from channelconnect.providers.messages import OutgoingMessage
from config.hooks import Registry
from config.leases.connections import Connection

# The time for which a message with an unknown outcome waits for a status.
UNKNOWN_SECONDS = 15 * 60
# A message that could not be sent for this long is given up.
LONGEST_RETRY_SECONDS = 24 * 3600


class ReadyChannel(NamedTuple):
    """A channel with something to send. Agencies take turns, then an agency's workspaces, then their channels."""

    agency_id: int
    workspace_id: int
    channel_id: int


class SourceState(NamedTuple):
    """Whether a source may have something to claim now, in any shard, and whether more is due within `SOON_SECONDS`."""

    is_ready: bool
    is_soon: bool


class ClaimedMessage(NamedTuple):
    """A row that this run has claimed; `id` is the source's. `unsendable` is an error code if it must not be sent."""

    source: str
    id: int
    agency_id: int
    channel_id: int
    contact_id: int | None
    tries: int
    queued_at: datetime
    message: OutgoingMessage
    unsendable: str = ""


class MessageResult(NamedTuple):
    """The result of a claimed message: an outcome, its time, and the wait if it is due again.

    `connected_at` identifies the channel's connection with which the call was made, if there was a call.
    """

    row: ClaimedMessage
    outcome: Outcome
    at: float
    wait_seconds: float = 0.0
    connected_at: datetime | None = None


class MessageSource(Protocol):
    """A source of messages. The sender's threads call its methods; each method runs one or more transactions."""

    @property
    def name(self) -> str: ...

    @property
    def priority(self) -> int: ...

    @property
    def keeps_order(self) -> bool:
        """Whether a message may wait for the end of an earlier one, so that the claimer looks again after each."""
        ...

    def advance(self, connection: Connection) -> SourceState:
        """Make due messages ready, and end those that were unknown for too long. Returns what is coming.

        Each sweep of the claimer calls it: twice a second, and less often at rest.
        """
        ...

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        """Return channels of these shards with something to claim now; a few thousand at most."""
        ...

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        """Claim up to `rooms` messages of each channel, `batch` in all, unless the run was declared lost."""
        ...

    def has_more(self, channel: int) -> bool:
        """Whether the last claim left messages of a channel although there was room for them."""
        ...

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        """Record results of messages. Returns for how many of them the claim was still this run's."""
        ...

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        """Make messages ready again of which the provider has received nothing."""
        ...

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        """Make claims of ended runs unknown, some at a time. Returns whether any are left.

        It is called until none is left. Then the runs are forgotten, and no one could find their claims any more.
        """
        ...


def is_urgent(source: MessageSource) -> bool:
    """Whether people wait for its messages. A tenth of every limit is kept for such sources."""
    return source.priority <= 0


message_sources = Registry[MessageSource](
    "message sources",
    called="each `SenderRun` reads them when it begins; its claimer and its recorder call their methods in two threads",
    transaction="its own; each method runs one or more",
    failure="a database error ends the run, and the next begins; another ends the sender until its task comes again",
)


# With an asynchronous commit, a crash of PostgreSQL could lose a claim, and the message would be sent twice. The other
# settings make the planner find a few rows of tables with millions by their keys, whatever the statistics say.
# Otherwise it would read all contacts into a hash or a list first.
SESSION = "SET synchronous_commit = on; SET enable_hashjoin = off; SET enable_material = off"


def prepare_session(connection: Connection) -> None:
    """Make a worker's own connection commit durably, and find rows by their keys."""
    connection.execute(SESSION)


@contextmanager
def project_transaction() -> Iterator[CursorWrapper]:
    """A transaction over this thread's connection of the project. It raises the driver's own errors."""
    try:
        with transaction.atomic(), project.cursor() as cursor:
            yield cursor
    except Error as error:
        project.close()
        if isinstance(error.__cause__, psycopg.Error):
            raise error.__cause__ from None
        raise

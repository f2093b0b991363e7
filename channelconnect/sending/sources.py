"""Where messages to be sent come from: what a source brings so that the sender sends its rows.

Conversations are one source, broadcasts another. A source owns its rows; the sender knows channels, rates, calls and
errors. To add one: write these methods over the source's own table, and add it to `message_sources` in the app's
`hooks.py`. The lower `priority` is claimed first, whatever waits behind it; 0 is for messages that people wait for,
and all others leave those a tenth of every limit.

The rules that a source keeps: a claim is committed before `claim` returns; a row that a run has claimed is given to no
other run, ever, unless `give_back` or a `retry` says that the provider cannot have it; what a dead run had claimed
becomes unknown, waits for the provider's status, and fails with `send_outcome_unknown` after `UNKNOWN_SECONDS`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from channelconnect.providers.messages import Outcome, OutgoingMessage
from config.hooks import Registry
from config.leases.connection import Connection

# How long a message of which nobody knows whether it was sent waits for a status.
UNKNOWN_SECONDS = 15 * 60
# What could not be sent for so long is given up.
LONGEST_RETRY_SECONDS = 24 * 3600


class ReadyChannel(NamedTuple):
    """A channel with something to send."""

    agency_id: int
    channel_id: int


class Coming(NamedTuple):
    """Whether a source may have something to claim now, in any shard, and whether more is due within `SOON_SECONDS`."""

    is_ready: bool
    is_soon: bool


class ClaimedMessage(NamedTuple):
    """A row that this run has claimed; `id` is the source's. `unsendable` names the error where it must not be sent."""

    source: str
    id: int
    agency_id: int
    channel_id: int
    contact_id: int | None
    tries: int
    queued_at: datetime
    message: OutgoingMessage
    unsendable: str = ""


class Sent(NamedTuple):
    """What came of a claimed message: an outcome, at which time, and how long to wait where it is due again.

    `connected_at` says which connection of the channel the call was made with, where one was made.
    """

    row: ClaimedMessage
    outcome: Outcome
    at: float
    wait_seconds: float = 0.0
    connected_at: datetime | None = None


class MessageSource(Protocol):
    """All methods run in a thread of the sender; each is a transaction, or several, of its own."""

    @property
    def name(self) -> str: ...

    @property
    def priority(self) -> int: ...

    def advance(self, connection: Connection) -> Coming:
        """Make ready what is due again, and end what has been unknown for too long; say what is to come.

        Called in each sweep of the claimer: twice a second, and at rest less often.
        """
        ...

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        """Name channels of these shards of which something could be claimed now; a few thousand at most."""
        ...

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        """Claim so many messages of each channel at most, `batch` in all, for a run that nobody has taken for lost."""
        ...

    def has_more(self, channel: int) -> bool:
        """Whether the last claim gave less of a channel than there was room for, and left some to be claimed."""
        ...

    def record(self, connection: Connection, *, run: int, results: Sequence[Sent]) -> int:
        """Record what came of messages; say of how many the claim was still this run's."""
        ...

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        """Make messages ready again of which nothing was given to the provider."""
        ...

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        """Make unknown some of what runs that have ended still have claimed; says whether any is left.

        It is called until none is. Then the runs are forgotten, and nobody would find what they had any more.
        """
        ...


def is_urgent(source: MessageSource) -> bool:
    """Whether people wait for its messages: a tenth of every limit is kept for them."""
    return source.priority <= 0


message_sources: Registry[MessageSource] = Registry("message sources")

"""Calls that wait in a queue of the broker, and how many of them are enough."""

from contextlib import suppress
from typing import Any, Final

# So many tasks of a queue may wait while no worker takes them. They carry no data: more would say no more.
MOST_WAITING: Final = 20


class WaitingCalls:
    """Counts them over a channel that stays open, as a new one is a new connection to Redis."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._channel: Any = None

    def are_enough(self, queue: str) -> bool:
        """Say whether a queue needs no further call."""
        return self.number(queue) >= MOST_WAITING

    def number(self, queue: str) -> int:
        """How many calls wait in a queue; none where the broker knows no such queue or cannot be asked."""
        try:
            if self._channel is None:
                self._channel = self._connection.channel()
            return int(self._channel.queue_declare(queue=queue, passive=True).message_count)
        except self._connection.channel_errors:
            return 0  # Redis forgets a queue that is empty; a channel goes on after that
        except self._connection.connection_errors:
            self.close()
            return 0

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with suppress(*self._connection.connection_errors, *self._connection.channel_errors):
                channel.close()

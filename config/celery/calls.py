"""Calls of tasks that wait in a queue of the broker, and how many are enough."""

from contextlib import suppress
from typing import Any, Final

# At most this many calls wait in a queue while no worker takes them. They carry no data, so more would add nothing.
MOST_WAITING: Final = 20


class WaitingCalls:
    """Counts waiting calls over a channel that stays open. A new channel would be a new connection to Redis."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._channel: Any = None

    def are_enough(self, queue: str) -> bool:
        """Return whether a queue needs no further call."""
        return self.number(queue) >= MOST_WAITING

    def number(self, queue: str) -> int:
        """Return how many calls wait in a queue; 0 if the broker knows no such queue or cannot be asked."""
        try:
            if self._channel is None:
                self._channel = self._connection.channel()
            return int(self._channel.queue_declare(queue=queue, passive=True).message_count)
        except self._connection.channel_errors:
            return 0  # Redis forgets an empty queue; the channel still works after that
        except self._connection.connection_errors:
            self.close()
            return 0

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with suppress(*self._connection.connection_errors, *self._connection.channel_errors):
                channel.close()

"""Names of the events that a session's end sends; `hooks` declares them."""

COMPLETED = "channel.connection.completed"
FAILED = "channel.connection.failed"
CANCELLED = "channel.connection.cancelled"
EXPIRED = "channel.connection.expired"

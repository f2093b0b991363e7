"""Names of the events about the end of a connect session; `hooks` declares the event types."""

COMPLETED = "channel.connection.completed"
FAILED = "channel.connection.failed"
CANCELLED = "channel.connection.cancelled"
EXPIRED = "channel.connection.expired"

"""The events that a session's end sends."""

COMPLETED = "channel.connection.completed"
FAILED = "channel.connection.failed"
CANCELLED = "channel.connection.cancelled"
EXPIRED = "channel.connection.expired"

LABELS: dict[str, str] = {
    COMPLETED: "Channel connection completed",
    FAILED: "Channel connection failed",
    CANCELLED: "Channel connection cancelled",
    EXPIRED: "Channel connection expired",
}

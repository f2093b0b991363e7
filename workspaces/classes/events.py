"""Names of a workspace's events about classes; `hooks` declares the event types."""

CLASS_SCHEDULED = "class.scheduled"
CLASS_CANCELLED = "class.cancelled"
CLASS_COMPLETED = "class.completed"
CLASS_FULL = "class.full"
PARTICIPANT_ADDED = "class.participant_added"
PARTICIPANT_REMOVED = "class.participant_removed"

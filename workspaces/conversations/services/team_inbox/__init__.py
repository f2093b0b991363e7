"""The team's actions in the shared inbox: mark as read, assign, snooze, add notes, use saved replies."""

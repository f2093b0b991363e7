"""The tasks of the usual designs, and their queue."""

KEPT = "usual.deliver_over_kept_connection"
PLAIN = "usual.deliver"
PACKAGE = "django_webhook.tasks.fire_webhook"
QUEUE = "usual"
"""Where the worker takes its tasks from; those that wait for the clock are kept beside it."""
WAITING = "usual-waiting"

"""The tasks of the usual designs, and their queue."""

KEPT = "celery_tasks.deliver_over_kept_connection"
PLAIN = "celery_tasks.deliver"
PACKAGE = "django_webhook.tasks.fire_webhook"
QUEUE = "celery_tasks"
"""Where the worker takes its tasks from; those that wait for the clock are kept beside it."""
WAITING = "celery_tasks-waiting"

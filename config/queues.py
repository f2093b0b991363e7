"""Every Celery task: its queue, how often beat sends it, and how long it may take.

Work in a queue may delay other work of that queue and nothing else. tools/local/runner/plan.py says which workers
consume which queue, and deploy/ says it for an installation. Tasks carry no data and never expire, so no host's clock
decides whether one runs.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Queue:
    """A queue with the time limits of its tasks.

    After `soft_seconds` a task gets `SoftTimeLimitExceeded`; after `hard_seconds` its process is killed.
    """

    name: str
    soft_seconds: int | None
    hard_seconds: int


@dataclass(frozen=True)
class TaskSpec:
    """A task. `every` is beat's interval in seconds; a task whose rows have due times is started sooner.

    A task without an interval `is_kept`: each worker of its queue keeps one running.
    """

    name: str
    queue: Queue
    every: float | None = None

    @property
    def is_kept(self) -> bool:
        return self.every is None


# Dispatchers and senders run for an hour, then finish what they have in flight.
DISPATCHER = Queue("dispatcher", None, 2 * 3600)
SENDER = Queue("sender", None, 2 * 3600)
# A run makes calls for an hour, and then until a moment at which nothing is in flight.
OUTSIDE_CALLS = Queue("outside-calls", None, 2 * 3600)
PULSE = Queue("pulse", 5, 10)
# One statement finds out which other tasks have work.
DUE_WORK = Queue("due-work", 20, 30)
MAIL = Queue("mail", 120, 150)
CALLBACKS = Queue("callbacks", 60, 90)
EXPIRY = Queue("expiry", 60, 90)
SUBSCRIPTIONS = Queue("subscriptions", 60, 90)
TEMPLATES = Queue("templates", 60, 90)
# A run starts to fetch files for some seconds. The slowest file takes a minute.
FETCHES = Queue("fetches", 85, 90)
# A run imports rows of files for some seconds, a thousand in each transaction.
IMPORTS = Queue("imports", 60, 90)
# A run works for some seconds on what people have asked for, in pieces of a fraction of a second.
JOBS = Queue("jobs", 60, 90)
# A run prepares broadcasts for half a minute, chunk by chunk. The longest chunk takes a fraction of a second.
BROADCASTS = Queue("broadcasts", 60, 90)
# A batch of look-ups takes a few seconds if name servers do not answer.
DOMAINS = Queue("domains", 60, 90)
# A run works on automations for 75 seconds, batch by batch. A batch takes a fraction of a second. A new run has
# to compile the triggers of workspaces again, so it must not be short.
AUTOMATIONS = Queue("automations", 85, 90)
# A run notifies people for some seconds, a batch in each transaction.
NOTIFICATIONS = Queue("notifications", 60, 90)
# A run reads calendars of other programs for some seconds. A batch takes up to 76 seconds.
CALENDARS = Queue("calendars", 85, 90)
# A run calls payment providers for 25 seconds, eight accounts at a time. The slowest turn of an account takes 55.
PAYMENTS = Queue("payments", 85, 90)
# A run begins calls of push services for 20 seconds. The slowest call ends ten seconds later.
PUSHES = Queue("pushes", 60, 90)
HOUSEKEEPING = Queue("housekeeping", 240, 300)
QUEUES = (
    DISPATCHER,
    SENDER,
    OUTSIDE_CALLS,
    PULSE,
    DUE_WORK,
    MAIL,
    CALLBACKS,
    EXPIRY,
    SUBSCRIPTIONS,
    TEMPLATES,
    FETCHES,
    IMPORTS,
    JOBS,
    BROADCASTS,
    DOMAINS,
    NOTIFICATIONS,
    AUTOMATIONS,
    PAYMENTS,
    CALENDARS,
    PUSHES,
    HOUSEKEEPING,
)

# Beat's interval for the tasks that `config.start_due_tasks` starts as soon as they are due
# (config/celery/tasks.py).
FALLBACK_INTERVAL_SECONDS = 60.0

TASKS = (
    TaskSpec("webhooks.deliver", DISPATCHER),
    TaskSpec("channelconnect.send", SENDER),
    TaskSpec("broadcasts.prepare", BROADCASTS),
    TaskSpec("automations.call_outside", OUTSIDE_CALLS),
    TaskSpec("config.record_worker", PULSE, every=5),
    TaskSpec("config.start_due_tasks", DUE_WORK, every=2),
    TaskSpec("agency.send_mail", MAIL, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("agency.run_jobs", JOBS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("broadcasts.count_audiences", JOBS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("agency.check_domains", DOMAINS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("agency.tell_people", NOTIFICATIONS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("agency.send_pushes", PUSHES, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("agency.check_states", NOTIFICATIONS, every=60),
    TaskSpec("channelconnect.read_notices", CALLBACKS),
    TaskSpec("automations.run", AUTOMATIONS),
    TaskSpec("channelconnect.expire_sessions", EXPIRY, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("channelconnect.unsubscribe", SUBSCRIPTIONS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("channelconnect.check_access", SUBSCRIPTIONS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("channelconnect.request_app_data", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("classes.complete_ended", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("classes.make_series", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("classes.fill_seats", HOUSEKEEPING, every=300),
    TaskSpec("appointments.read_calendars", CALENDARS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("appointments.end_holds", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("appointments.settle_deposits", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("appointments.forget_visitors", HOUSEKEEPING, every=600),
    TaskSpec("finance.report_overdue", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("conversations.wake_snoozed", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("conversations.apply_parked_changes", HOUSEKEEPING, every=10),
    TaskSpec("channelconnect.sync_templates", TEMPLATES, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("channelconnect.fetch_media", FETCHES, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("channelconnect.forget_notices", HOUSEKEEPING, every=600),
    TaskSpec("conversations.forget_messages", HOUSEKEEPING, every=600),
    TaskSpec("contacts.forget_records", HOUSEKEEPING, every=600),
    TaskSpec("automations.forget_runs", HOUSEKEEPING, every=600),
    TaskSpec("automations.delete_removed", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("automations.make_calls", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("automations.remind", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("contacts.merge_counts", HOUSEKEEPING, every=30),
    TaskSpec("contacts.recount_segments", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("contacts.import_files", IMPORTS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("broadcasts.count_clicks", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("agency.count_hours", HOUSEKEEPING, every=300),
    TaskSpec("agency.forget_records", HOUSEKEEPING, every=600),
    TaskSpec("api.forget_idempotency_records", HOUSEKEEPING, every=600),
    TaskSpec("finance.call_provider", PAYMENTS, every=FALLBACK_INTERVAL_SECONDS),
    TaskSpec("finance.forget_events", HOUSEKEEPING, every=600),
    TaskSpec("webhooks.forget_deliveries", HOUSEKEEPING, every=600),
    TaskSpec("automations.find_dates", HOUSEKEEPING, every=3600),
    TaskSpec("media.remove_unused_files", HOUSEKEEPING, every=FALLBACK_INTERVAL_SECONDS),
)
# A retention task works this long at most. The rest is left to its next run.
HOUSEKEEPING_SECONDS = 120.0


def routes() -> dict[str, dict[str, str]]:
    """Return Celery's `task_routes`."""
    return {task.name: {"queue": task.queue.name} for task in TASKS}


def annotations() -> dict[str, dict[str, int | None]]:
    """Return Celery's `task_annotations`: the time limits of each task."""
    return {
        task.name: {"soft_time_limit": task.queue.soft_seconds, "time_limit": task.queue.hard_seconds} for task in TASKS
    }


def beat_schedule() -> dict[str, dict[str, object]]:
    """Return Celery's `beat_schedule`."""
    return {task.name: {"task": task.name, "schedule": task.every} for task in TASKS if task.every is not None}

"""Celery tasks of automations."""

from celery import shared_task

from config.celery.stopping import until_worker_ends
from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from workspaces.automations.dispatcher.loop import LONGEST_RUN_SECONDS, run_calls
from workspaces.automations.engine.internal_calls import left_calls, make_left_calls
from workspaces.automations.engine.loop import run_engine
from workspaces.automations.services.appointment_facts import start_due_reminders
from workspaces.automations.services.automation_removal import delete_removed_rows, removed_automations
from workspaces.automations.services.contact_triggers import DateWalk
from workspaces.automations.services.outside_calls import CALL_RULES
from workspaces.automations.services.reminders import due_reminders, plan_missing_reminders
from workspaces.automations.services.removal import RUN_RULES

# A new run reads and compiles the triggers of all workspaces that have work.
RUN_SECONDS = 75.0

due_work.add(
    DueWork("automations.delete_removed", (removed_automations,)),
    DueWork("automations.make_calls", (left_calls,)),
    DueWork("automations.remind", (due_reminders,)),
)


# Each worker of its queue keeps one running (config/celery/worker.py). The message is acknowledged as the run begins,
# so that it is not delivered again if the process dies.
@shared_task(name="automations.run", acks_late=False)
def run() -> None:
    """Work on due contacts until the worker ends or this run's time is over."""
    run_engine(should_stop=until_worker_ends(longest_seconds=RUN_SECONDS))


# As above.
@shared_task(name="automations.call_outside", acks_late=False)
def call_outside() -> None:
    """Make the calls of other systems that runs wait for, until the worker ends or this run's time is over."""
    should_stop = until_worker_ends(longest_seconds=LONGEST_RUN_SECONDS)
    if not should_stop():
        run_calls(should_stop=should_stop)


@shared_task(name="automations.forget_runs")
@one_at_a_time
def forget_runs() -> None:
    """Delete old runs, facts, counts, places in the queue, outside calls and usage, in batches."""
    in_batches(lambda: forget((*RUN_RULES, *CALL_RULES)), seconds=HOUSEKEEPING_SECONDS)


@shared_task(name="automations.delete_removed")
@one_at_a_time
def delete_removed() -> None:
    """Delete the rows of removed automations, in batches."""
    in_batches(delete_removed_rows, seconds=HOUSEKEEPING_SECONDS)


@shared_task(name="automations.find_dates")
@one_at_a_time
def find_dates() -> None:
    """Record the birthdays and the long silences of contacts with which automations start."""
    plan_missing_reminders(now=database_now())
    in_batches(DateWalk(database_now()).walk_page, seconds=HOUSEKEEPING_SECONDS)


@shared_task(name="automations.make_calls")
@one_at_a_time
def make_calls() -> None:
    """Make calls of appointments and invoices that processes which died have left behind."""
    in_batches(make_left_calls, seconds=HOUSEKEEPING_SECONDS)


@shared_task(name="automations.remind")
@one_at_a_time
def remind() -> None:
    """Start the automations of appointments that are near now."""
    in_batches(lambda: start_due_reminders(now=database_now()), seconds=HOUSEKEEPING_SECONDS)

"""`manage.py after_restore`: lets the workers go on after a restore, or after a standby took over."""

from argparse import ArgumentParser
from typing import Final, NamedTuple

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from broadcasts.services.moving import SWEEP
from broadcasts.services.recovery import (
    NotPrepared,
    add_restore_warning,
    pause_after_restore,
    require_approval_after_restore,
)
from channelconnect.sending.allowance import fill_allowances
from config.celery import wake_up
from config.db import database_now
from config.recovery.identity import confirm, is_confirmed, last_confirmed
from workspaces.automations.services.run_control import stop_after_restore
from workspaces.automations.services.trigger_events import ENGINE
from workspaces.conversations.services.send_results import fail_queued_messages
from workspaces.conversations.services.sending import SENDER


class Command(BaseCommand):
    help = (
        "Say what became of the database, so that senders and dispatchers go on. Unless nothing was lost, broadcasts "
        "are paused, people who may have been sent to count as unknown, messages that waited fail, runs of automations "
        "stop, and the allowances of all numbers are full for 24 hours. docs/operations.md has the whole order."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--nothing-lost",
            action="store_true",
            help="every commit is there: a synchronous standby took over, or nothing was at work since the backup",
        )
        parser.add_argument(
            "--unnoticed", action="store_true", help="do it though this looks like the database that was at work last"
        )

    def handle(self, *, nothing_lost: bool, unnoticed: bool, **_: object) -> None:
        if not unnoticed and not is_to_be_confirmed():
            raise CommandError(
                "This is the database that was at work last, so nothing was done. If it was restored all the same, "
                "say so with --unnoticed."
            )
        if nothing_lost:
            confirm_database()
            self.stdout.write("Confirmed. Senders and dispatchers go on where they were.")
            return
        try:
            found = hold_back_possibly_sent()
        except NotPrepared as error:
            raise CommandError(
                "A broadcast could not be prepared; the log says why. Run this again after that."
            ) from error
        confirm_database()
        self.stdout.write(
            f"{found.broadcasts:,} broadcasts paused, {found.recipients:,} of their recipients unknown\n"
            f"{found.paused:,} broadcasts that were paused have a warning\n"
            f"{found.scheduled:,} scheduled broadcasts wait for an approval\n"
            f"{found.messages:,} messages failed\n"
            f"{found.runs:,} runs of automations stopped, {found.facts:,} facts start no automation\n"
            f"{found.allowances:,} allowances are full for 24 hours\n"
            "Their owners are told. Senders and dispatchers go on."
        )


# What is held back ---------------------------------------------------------------------------------


# Uses of an allowance that the database has forgotten end within this time.
FULL_HOURS: Final = 24


class HeldBack(NamedTuple):
    """Counts of what may have been sent already."""

    broadcasts: int
    recipients: int
    paused: int
    scheduled: int
    messages: int
    allowances: int
    facts: int
    runs: int


def is_to_be_confirmed() -> bool:
    """Return whether the workers wait for somebody who says what became of the database."""
    with connection.cursor() as cursor:
        return not is_confirmed(cursor)


def confirm_database() -> None:
    """Let the workers go on with the database as it is."""
    with connection.cursor() as cursor:
        confirm(cursor)
    for name in (SENDER, SWEEP, ENGINE):
        wake_up(name)


def hold_back_possibly_sent() -> HeldBack:
    """Hold back all that may have been sent, and tell the people concerned. If it breaks off, run it again.

    The workers claim nothing meanwhile. Each step is a separate transaction, and finds what an earlier run has left.
    """
    now = database_now()
    allowances = fill_allowances(hours=FULL_HOURS)
    scheduled = require_approval_after_restore(now=now)
    broadcasts, recipients = pause_after_restore(now=now)
    paused = add_restore_warning(now=now)
    with connection.cursor() as cursor:
        restore = last_confirmed(cursor)
    messages = fail_queued_messages(restore=f"{restore or now:%Y-%m-%dT%H:%M:%S.%f}", now=now)
    automations = stop_after_restore(now=now)
    return HeldBack(broadcasts, recipients, paused, scheduled, messages, allowances, *automations)

"""`manage.py after_restore`: lets the workers go on after a restore, or after a standby took over."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from broadcasts.services.recovery import NotPrepared
from config.operations.recovery import confirm_database, hold_back_possibly_sent, is_to_be_confirmed


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

    def handle(self, *, nothing_lost: bool, unnoticed: bool, **_: Any) -> None:
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

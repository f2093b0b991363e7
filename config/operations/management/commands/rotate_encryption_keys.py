"""`manage.py rotate_encryption_keys`: encrypts every secret at rest with the first of FIELD_ENCRYPTION_KEYS."""

from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError

from config.encryption import PASSES, Column, Outcome, RotationResult, columns_of, reencrypt


class Command(BaseCommand):
    help = (
        "Re-encrypt every stored secret with the first of FIELD_ENCRYPTION_KEYS. "
        "Put the new key first, restart every process, run this, and only then remove the old key."
    )

    def handle(self, **_: Any) -> None:
        unfinished = [column.label for column in columns_of(*apps.get_models()) if not self._finish(column)]
        if unfinished:
            raise CommandError(f"Not every secret is under the first key: {', '.join(unfinished)}. Keep the old keys.")

    def _finish(self, column: Column) -> bool:
        """Repeat until a pass loses no race; return whether every secret is under the first key."""
        for _ in range(PASSES):
            done = reencrypt(column)
            self._show(column, done)
            if not done.counts["changed meanwhile"]:
                return not done.unreadable
        return False

    def _show(self, column: Column, done: RotationResult) -> None:
        outcomes: tuple[Outcome, ...] = ("re-encrypted", "current", "changed meanwhile", "unreadable")
        summary = ", ".join(f"{done.counts[outcome]:,} {outcome}" for outcome in outcomes)
        self.stdout.write(f"{column.label}: {summary}")
        if done.unreadable:
            self.stdout.write(f"  unreadable, by {column.field.bound_to}: {', '.join(done.unreadable)}")

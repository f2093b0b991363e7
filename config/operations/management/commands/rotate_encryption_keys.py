"""`manage.py rotate_encryption_keys`: every secret at rest under the first of FIELD_ENCRYPTION_KEYS."""

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.operations.secrets import Column, Outcome, encrypted_columns, reencrypt

PASSES = 5


class Command(BaseCommand):
    help = (
        "Re-encrypt every stored secret with the first of FIELD_ENCRYPTION_KEYS. "
        "Put the new key first, restart every process, run this, and only then remove the old key."
    )

    def handle(self, **_: Any) -> None:
        unfinished = [column.label for column in encrypted_columns() if not self._finish(column)]
        if unfinished:
            raise CommandError(f"Not every secret is under the first key: {', '.join(unfinished)}. Keep the old keys.")

    def _finish(self, column: Column) -> bool:
        """Go over the column until a pass loses no race; say whether every secret is under the first key."""
        for _ in range(PASSES):
            counts = reencrypt(column)
            self._show(column, counts)
            if not counts["changed meanwhile"]:
                return not counts["unreadable"]
        return False

    def _show(self, column: Column, counts: Counter[Outcome]) -> None:
        outcomes: tuple[Outcome, ...] = ("re-encrypted", "current", "changed meanwhile", "unreadable")
        summary = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in outcomes)
        self.stdout.write(f"{column.label}: {summary}")

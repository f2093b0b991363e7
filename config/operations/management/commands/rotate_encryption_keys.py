"""`manage.py rotate_encryption_keys`: encrypts every secret at rest with the first of FIELD_ENCRYPTION_KEYS."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError

from config.api.idempotency import reencrypt_answers
from config.encryption import PASSES, Outcome, RotationResult, columns_of, reencrypt


class StoredSecrets(NamedTuple):
    """Where secrets are stored, by what their rows are known, and the function that goes through all of them."""

    label: str
    known_by: str
    reencrypt: Callable[[], RotationResult]


def stored_secrets() -> Iterator[StoredSecrets]:
    for column in columns_of(*apps.get_models()):
        yield StoredSecrets(column.label, column.field.bound_to, partial(reencrypt, column))
    yield StoredSecrets("api.IdempotencyRecord.body", "id", reencrypt_answers)


class Command(BaseCommand):
    help = (
        "Re-encrypt every stored secret with the first of FIELD_ENCRYPTION_KEYS. "
        "Put the new key first, restart every process, run this, and only then remove the old key."
    )

    def handle(self, **_: object) -> None:
        unfinished = [stored.label for stored in stored_secrets() if not self._finish(stored)]
        if unfinished:
            raise CommandError(f"Not every secret is under the first key: {', '.join(unfinished)}. Keep the old keys.")

    def _finish(self, stored: StoredSecrets) -> bool:
        """Repeat until a pass loses no race; return whether every secret is under the first key."""
        for _ in range(PASSES):
            done = stored.reencrypt()
            self._show(stored, done)
            if not done.counts["changed meanwhile"]:
                return not done.unreadable
        return False

    def _show(self, stored: StoredSecrets, done: RotationResult) -> None:
        outcomes: tuple[Outcome, ...] = ("re-encrypted", "current", "changed meanwhile", "unreadable")
        summary = ", ".join(f"{done.counts[outcome]:,} {outcome}" for outcome in outcomes)
        self.stdout.write(f"{stored.label}: {summary}")
        if done.unreadable:
            self.stdout.write(f"  unreadable, by {stored.known_by}: {', '.join(done.unreadable)}")

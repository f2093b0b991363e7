"""`manage.py erase_person EMAIL`: erases a person everywhere, at their request."""

import shlex
from argparse import ArgumentParser
from collections import Counter

from django.core.management.base import BaseCommand, CommandError

from agency.models import User
from config.errors import DomainError
from config.operations.erasure import (
    PersonalData,
    anonymize,
    close_account,
    count_mentions,
    email_mark,
    forget_addresses,
    personal_data_of,
)


class Command(BaseCommand):
    help = (
        "Erase a person: their sign-ins, memberships and e-mails end, and no row names them afterwards. "
        "Sub-accounts that they own go to the person of --replacement. --dry-run shows where they are named."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--replacement", metavar="EMAIL", help="who is to own the person's sub-accounts")
        parser.add_argument("--finish", type=int, metavar="NUMBER", help="go on where it was interrupted, as it said")
        parser.add_argument("--name", action="append", default=[], help="with --finish: what the person was called")
        parser.add_argument("--dry-run", action="store_true", help="change nothing, only say what would be changed")

    def handle(
        self, *, email: str, replacement: str | None, finish: int | None, name: list[str], dry_run: bool, **_: object
    ) -> None:
        if finish is not None:
            user = self._find(email_mark(finish))
            words = PersonalData(email.strip().lower(), tuple(name), user.email)
        else:
            user, words = self._begin(email, replacement, dry_run=dry_run)
        found = count_mentions(words)
        if not dry_run:
            self._rewrite(user, words)
        self._show(found, "would be rewritten" if dry_run else "rewritten")

    def _begin(self, email: str, replacement: str | None, *, dry_run: bool) -> tuple[User, PersonalData]:
        """End what is theirs. After that the row no longer says what to look for; the printed command does."""
        user, heir = self._find(email), self._find(replacement) if replacement else None
        if user == heir:
            raise CommandError("Nobody can be replaced by themselves.")
        words = personal_data_of(user)
        if not dry_run:
            names = [part for name in words.names for part in ("--name", name)]
            line = shlex.join([words.email, "--finish", str(user.pk), *names])
            self.stdout.write(f"If this is interrupted, finish it with: manage.py erase_person {line}")
            try:
                close_account(user, words, heir)
            except DomainError as refusal:
                raise CommandError(refusal.message) from refusal
        return user, words

    def _rewrite(self, user: User, words: PersonalData) -> None:
        forget_addresses(user)
        left = anonymize(words)
        if left:
            raise CommandError(f"Still named in: {', '.join(sorted(left))}. Finish it as said above.")

    def _find(self, email: str) -> User:
        found = User.objects.filter(email=email.strip().lower()).first()
        if found is None:
            raise CommandError("There is no person with this e-mail address.")
        return found

    def _show(self, found: Counter[str], what: str) -> None:
        for column, rows in sorted(found.items()):
            self.stdout.write(f"{column}: {rows:,} rows {what}")

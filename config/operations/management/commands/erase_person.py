"""`manage.py erase_person EMAIL`: a person is erased from everywhere, at their request."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agency.models import User
from config.errors import DomainError
from config.operations.erasure import end_what_is_theirs, occurrences, rewrite, words_of


class Command(BaseCommand):
    help = (
        "Erase a person: their sign-ins, memberships and e-mails end, and no row names them afterwards. "
        "Sub-accounts that they own go to the person of --replacement. --dry-run shows where they are named."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--replacement", metavar="EMAIL", help="who is to own the person's sub-accounts")
        parser.add_argument("--dry-run", action="store_true", help="change nothing, only say what would be changed")

    def handle(self, *, email: str, replacement: str | None, dry_run: bool, **_: Any) -> None:
        user, heir = self._find(email), self._find(replacement) if replacement else None
        if user == heir:
            raise CommandError("Nobody can be replaced by themselves.")
        words = words_of(user)
        found = occurrences(words)
        if not dry_run:
            self._erase(user, heir)
        self._show(found, "would be rewritten" if dry_run else "rewritten")

    def _erase(self, user: User, heir: User | None) -> None:
        words = words_of(user)
        try:
            end_what_is_theirs(user, words, heir)
        except DomainError as refusal:
            raise CommandError(refusal.message) from refusal
        left = rewrite(words)
        if left:
            raise CommandError(f"Still named in: {', '.join(sorted(left))}. Run the command again.")

    def _find(self, email: str) -> User:
        found = User.objects.filter(email=email.strip().lower()).first()
        if found is None:
            raise CommandError("There is no person with this e-mail address.")
        return found

    def _show(self, found: Counter[str], what: str) -> None:
        for column, rows in sorted(found.items()):
            self.stdout.write(f"{column}: {rows:,} rows {what}")

"""`manage.py reset_two_factor EMAIL`: lets support staff in again who have lost their app and recovery codes."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from agency.actors import SYSTEM
from agency.models import User
from agency.services.two_factor import reset_two_factor


class Command(BaseCommand):
    help = "Take two-factor from a person, end their sessions and tell them by e-mail; they set it up again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")

    def handle(self, *, email: str, **_: object) -> None:
        user = User.objects.filter(email=email.strip().lower()).first()
        if user is None:
            raise CommandError("There is no person with this e-mail address.")
        was_on = reset_two_factor(user=user, by=SYSTEM)
        self.stdout.write("Two-factor is reset." if was_on else "This person has no two-factor.")

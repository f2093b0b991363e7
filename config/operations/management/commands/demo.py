"""`manage.py demo`: the main job over HTTP against the running system, with every event checked."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.local import STATE
from config.local.state import BOOTSTRAP, read_json
from config.operations.demo import StoryFailed, tell_story


class Command(BaseCommand):
    help = "Provision and change sub-accounts over the agency API and show each signed event arriving."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base-url", default=settings.PUBLIC_URL, metavar="URL", help="default: %(default)s")
        parser.add_argument("--key", metavar="KEY", help="an agency key; default: the one that `make run` printed")
        parser.add_argument("--sub-accounts", type=int, default=5, metavar="N", help="default: %(default)s")

        parser.add_argument("--pause", type=float, default=0.1, metavar="SECONDS", help="default: %(default)s")

    def handle(self, *, base_url: str, key: str | None, sub_accounts: int, pause: float, **_: Any) -> None:
        key = key or read_json(STATE / BOOTSTRAP).get("agency_key")
        if not key:
            raise CommandError("No agency key is known here: start the system with `make run`, or give --key.")
        try:
            went_well = tell_story(
                base_url=base_url,
                key=key,
                sub_accounts=max(1, sub_accounts),
                pause=max(0.0, pause),
                terminal=self.stdout,
            )
        except StoryFailed as failure:
            raise CommandError(str(failure)) from failure
        except KeyboardInterrupt:
            raise CommandError("Stopped.", returncode=130) from None
        if not went_well:
            raise CommandError("The story did not end well: see the lines marked ✗.")

"""`manage.py demo`: the main job over HTTP against the running system, with every event checked."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tools.local.state import BOOTSTRAP, read_json

from tools.demo import StoryFailed, Tempo, tell_story
from tools.local import STATE

DEFAULT = "default: %(default)s"


class Command(BaseCommand):
    help = "Provision and change sub-accounts over the agency API and show each signed event arriving."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base-url", default=settings.PUBLIC_URL, metavar="URL", help=DEFAULT)
        parser.add_argument("--key", metavar="KEY", help="an agency key; default: the one that `make run` printed")
        parser.add_argument("--sub-accounts", type=int, default=5, metavar="N", help=DEFAULT)
        parser.add_argument(
            "--pause", type=float, default=Tempo.pause, metavar="SECONDS", help=f"for each event to come; {DEFAULT}"
        )
        parser.add_argument(
            "--wait", type=float, default=Tempo.wait, metavar="SECONDS", help=f"for the last events; {DEFAULT}"
        )

    def handle(self, *, base_url: str, key: str | None, sub_accounts: int, **options: Any) -> None:
        key = key or read_json(STATE / BOOTSTRAP).get("agency_key")
        if not key:
            raise CommandError("No agency key is known here: start the system with `make run`, or give --key.")
        tempo = Tempo(pause=max(0.0, options["pause"]), wait=max(0.0, options["wait"]))
        try:
            went_well = tell_story(
                base_url=base_url, key=key, sub_accounts=max(1, sub_accounts), tempo=tempo, terminal=self.stdout
            )
        except StoryFailed as failure:
            raise CommandError(str(failure)) from failure
        except KeyboardInterrupt:
            raise CommandError("Stopped.", returncode=130) from None
        if not went_well:
            raise CommandError("The story did not end well: see the lines marked ✗.")

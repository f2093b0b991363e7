"""`manage.py bootstrap`: the first agency, its people and keys, and a demo workspace."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from config.errors import DomainError
from config.operations.bootstrap import Installation, bootstrap
from config.operations.bootstrap.users import DEFAULT_AGENCY

NAME_LENGTH = 120
ALREADY_SHOWN = "(shown when it was made; --rotate makes a new one)"


class Command(BaseCommand):
    help = "Make an agency with owner, keys, catalogue and a demo workspace; a second run changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
        parser.add_argument("--agency", default=DEFAULT_AGENCY, metavar="NAME", help="default: %(default)s")
        parser.add_argument("--rotate", action="store_true", help="replace the keys and passwords made before")

    def handle(self, *, json: bool, agency: str, rotate: bool, **_: Any) -> None:
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])  # unreadable secrets stop a start here
        try:
            found = bootstrap(agency_name=_valid(agency), rotate=rotate, now=timezone.now())
        except DomainError as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(_as_json(found) if json else _summary(found))


def _valid(name: str) -> str:
    name = name.strip()
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise CommandError(f"An agency's name has 1 to {NAME_LENGTH} printable characters.")
    return name


def _as_json(found: Installation) -> str:
    return json.dumps(found.as_json(), ensure_ascii=False, indent=2)


def _summary(found: Installation) -> str:
    secrets = {
        "Agency key": found.agency_key,
        "Copy key": found.copy_key,
        "Workspace key": found.workspace_key,
    }
    lines = [f"Agency         {found.agency.name} (id {found.agency.id})"]
    for name, sign_in in (("Console", found.console), ("Admin", found.admin)):
        lines.append(f"{name:<15}{sign_in.url}  {sign_in.email}  {sign_in.password or ALREADY_SHOWN}")
    lines.append(f"Workspace      {found.workspace.name} ({found.workspace.uuid})")
    lines += [f"{name:<15}{secret or ALREADY_SHOWN}" for name, secret in secrets.items()]
    return "\n".join(lines)

"""`manage.py bootstrap`: makes the first agency, its people and keys, and outside production a demo workspace."""

import json
from argparse import ArgumentParser

from django.conf import settings
from django.core.checks import Tags
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from config.errors import DomainError
from config.operations.bootstrap import Installation, bootstrap
from config.operations.bootstrap_accounts import DEFAULT_AGENCY

NAME_LENGTH = 120
ALREADY_SHOWN = "(shown when it was made; --rotate makes a new one)"


class Command(BaseCommand):
    help = (
        "Make an agency with owner, keys and catalogue, and outside production a demo workspace; "
        "a second run changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
        parser.add_argument(
            "--agency", metavar="NAME", help=f"needed in production; {DEFAULT_AGENCY} is the default elsewhere"
        )
        parser.add_argument("--owner-email", metavar="ADDRESS", help="of the agency's owner; needed in production")
        parser.add_argument("--admin-email", metavar="ADDRESS", help="of the superuser; needed in production")
        parser.add_argument("--rotate", action="store_true", help="replace the keys and passwords made before")

    def handle(
        self,
        *,
        json: bool,
        agency: str | None,
        owner_email: str | None,
        admin_email: str | None,
        rotate: bool,
        **_: object,
    ) -> None:
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])  # unreadable secrets stop a start here
        try:
            found = bootstrap(
                agency_name=_valid(agency),
                rotate=rotate,
                owner_email=_address(owner_email),
                admin_email=_address(admin_email),
                now=timezone.now(),
            )
        except DomainError as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(_as_json(found) if json else _summary(found))


def _valid(name: str | None) -> str:
    if name is None and settings.PRODUCTION:
        raise CommandError("--agency is needed in production: the agency's name.")
    name = (DEFAULT_AGENCY if name is None else name).strip()
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise CommandError(f"An agency's name has 1 to {NAME_LENGTH} printable characters.")
    return name


def _address(given: str | None) -> str | None:
    if given is None:
        return None
    try:
        validate_email(given.strip())
    except ValidationError as error:
        raise CommandError("An e-mail address was given that is none.") from error
    return given.strip().lower()


def _as_json(found: Installation) -> str:
    return json.dumps(found.as_json(), ensure_ascii=False, indent=2)


def _summary(found: Installation) -> str:
    secrets = {"Agency key": found.agency_key, "Copy key": found.copy_key}
    sign_ins = {"Console": found.console, "Admin": found.admin}
    if found.demo:
        sign_ins["Customer"] = found.demo.customer
        secrets["Workspace key"] = found.demo.key
    lines = [f"Agency         {found.agency.name} (id {found.agency.id})"]
    for name, sign_in in sign_ins.items():
        lines.append(f"{name:<15}{sign_in.url}  {sign_in.email}  {sign_in.password or ALREADY_SHOWN}")
    if found.demo:
        lines.append(f"Workspace      {found.demo.workspace.name} ({found.demo.workspace.uuid})")
    lines += [f"{name:<15}{secret or ALREADY_SHOWN}" for name, secret in secrets.items()]
    return "\n".join(lines)

"""One run of the bootstrap: all of it or nothing, and never two at a time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from agency.models import Agency
from agency.services import create_agency
from channelconnect.models import ConnectSettings
from channelconnect.services import set_return_urls, switch_connect
from config.db import name_key
from config.operations.bootstrap.actor import BOOTSTRAP
from config.operations.bootstrap.catalogue import ensure_catalogue
from config.operations.bootstrap.demo_workspace import ensure_demo_workspace
from config.operations.bootstrap.keys import ensure_agency_key, ensure_workspace_key
from config.operations.bootstrap.users import SignIn, ensure_admin, ensure_owner
from workspaces.subaccounts.models import Workspace

LOCK = 7_105_002  # any constant that nothing else in this database locks


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What a bootstrap found or made; a secret only when this run has made it."""

    agency: Agency
    agency_key: str | None
    copy_key: str | None
    console: SignIn
    admin: SignIn
    workspace: Workspace
    workspace_key: str | None

    def as_json(self) -> dict[str, Any]:
        """`{agency, agency_key, copy_key, console, admin, workspace}`, null for every secret not made now."""
        return {
            "agency": {"id": self.agency.id, "name": self.agency.name},
            "agency_key": self.agency_key,
            "copy_key": self.copy_key,
            "console": self.console.as_json(),
            "admin": self.admin.as_json(),
            "workspace": {
                "uuid": str(self.workspace.uuid),
                "name": self.workspace.name,
                "key": self.workspace_key,
            },
        }


@transaction.atomic
def bootstrap(*, agency_name: str, rotate: bool, now: datetime) -> Installation:
    """Make what an agency of this name lacks; `rotate` replaces the keys and passwords made before."""
    _wait_for_other_runs()
    agency = Agency.objects.filter(name_key=name_key(agency_name)).first()
    agency = agency or create_agency(name=agency_name, by=BOOTSTRAP)
    ensure_catalogue(agency)
    ensure_connecting(agency)
    console = ensure_owner(agency, rotate=rotate)
    workspace = ensure_demo_workspace(agency, now=now)
    return Installation(
        agency=agency,
        agency_key=ensure_agency_key(agency, can_copy=False, rotate=rotate, now=now),
        copy_key=ensure_agency_key(agency, can_copy=True, rotate=rotate, now=now),
        console=console,
        admin=ensure_admin(rotate=rotate),
        workspace=workspace,
        workspace_key=ensure_workspace_key(workspace, rotate=rotate, now=now),
    )


def _wait_for_other_runs() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '60s'")
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        cursor.execute("RESET lock_timeout")


RETURN_URL = "https://app.example.com/connected"


def ensure_connecting(agency: Agency) -> None:
    """Switch the feature on, with one return URL, where nothing was ever set and this is not production."""
    if settings.PRODUCTION or ConnectSettings.objects.filter(agency=agency).exists():
        return
    switch_connect(agency=agency, enabled=True, reason="To try it with the sandbox provider", by=BOOTSTRAP)
    set_return_urls(agency=agency, return_urls=[RETURN_URL], by=BOOTSTRAP)

"""One run of the bootstrap: all of it or nothing, and only one at a time."""

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
from config.postgresql.advisory_locks import AdvisoryLock
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A sub-account to try things with, its key, and the customer who owns it."""

    workspace: Workspace
    key: str | None
    customer: SignIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The result of a bootstrap: all that it found or made. A secret is there only if this run made it.

    Production has no demo.
    """

    agency: Agency
    agency_key: str | None
    copy_key: str | None
    console: SignIn
    admin: SignIn
    demo: Demo | None

    def as_json(self) -> dict[str, Any]:
        """Return `{agency, agency_key, copy_key, console, admin, customer, workspace}`; null for what is not there.

        A secret is null unless this run made it.
        """
        demo = self.demo
        return {
            "agency": {"id": self.agency.id, "name": self.agency.name},
            "agency_key": self.agency_key,
            "copy_key": self.copy_key,
            "console": self.console.as_json(),
            "admin": self.admin.as_json(),
            "customer": demo.customer.as_json() if demo else None,
            "workspace": {
                "uuid": str(demo.workspace.uuid),
                "name": demo.workspace.name,
                "key": demo.key,
            }
            if demo
            else None,
        }


@transaction.atomic
def bootstrap(
    *, agency_name: str, rotate: bool, now: datetime, owner_email: str | None = None, admin_email: str | None = None
) -> Installation:
    """Make what an agency of this name lacks. `rotate` replaces the keys and passwords made before.

    Raises `AddressNeeded` in production if an address was not given.
    """
    _wait_for_other_runs()
    agency = Agency.objects.filter(name_key=name_key(agency_name)).first()
    agency = agency or create_agency(name=agency_name, by=BOOTSTRAP)
    ensure_catalogue(agency)
    ensure_connecting(agency)
    return Installation(
        agency=agency,
        console=ensure_owner(agency, given=owner_email, rotate=rotate),
        demo=None if settings.PRODUCTION else ensure_demo(agency, rotate=rotate, now=now),
        agency_key=ensure_agency_key(agency, can_copy=False, rotate=rotate, now=now),
        copy_key=ensure_agency_key(agency, can_copy=True, rotate=rotate, now=now),
        admin=ensure_admin(given=admin_email, rotate=rotate),
    )


def ensure_demo(agency: Agency, *, rotate: bool, now: datetime) -> Demo:
    """Make what a customer of the agency needs to try the system."""
    workspace, customer = ensure_demo_workspace(agency, rotate=rotate, now=now)
    key = ensure_workspace_key(workspace, rotate=rotate, now=now)
    return Demo(workspace=workspace, key=key, customer=customer)


def _wait_for_other_runs() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '60s'")
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [AdvisoryLock.INSTALLATION.value])
        cursor.execute("RESET lock_timeout")


RETURN_URL = "https://app.example.com/connected"


def ensure_connecting(agency: Agency) -> None:
    """Switch channel connect on, with one return URL, if nothing was ever set and this is not production."""
    if settings.PRODUCTION or ConnectSettings.objects.filter(agency=agency).exists():
        return
    switch_connect(agency=agency, enabled=True, reason="To try it with the sandbox provider", by=BOOTSTRAP)
    set_return_urls(agency=agency, return_urls=[RETURN_URL], by=BOOTSTRAP)

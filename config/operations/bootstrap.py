"""Makes the first agency of an installation, with everything needed to try the system. It is safe to run again."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection, transaction

from agency.models import Agency, User
from agency.services import create_agency
from channelconnect.models import ConnectSettings
from channelconnect.services.settings import set_return_urls, switch_connect
from config.db import name_key
from config.operations.bootstrap_accounts import (
    BOOTSTRAP,
    SignIn,
    ensure_admin,
    ensure_agency_key,
    ensure_catalogue,
    ensure_customer,
    ensure_owner,
    ensure_workspace_key,
    example_address,
    last_plan,
)
from config.operations.demo_data import add_demo_data
from config.postgresql.concurrency import AdvisoryLock
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import connect_channel, create_workspace

# It is known by its channel or its key, whatever it is called later.

PLATFORM = "whatsapp"


def ensure_demo_workspace(agency: Agency, *, rotate: bool, now: datetime) -> tuple[Workspace, SignIn]:
    """Make the demo workspace with its WhatsApp channel, demo data and owner, if it is missing.

    Raises `SubAccountLimitReached` if the agency has no room for it.
    """
    workspace = _find(agency)
    if workspace is None or workspace.owner_email == example_address("customer", agency.name):
        customer, password = ensure_customer(agency, rotate=rotate)
    else:  # somebody has given it another owner, whose password is their own
        customer, password = workspace.owner, None
    sign_in = SignIn(url=f"{settings.PUBLIC_URL}/app/", email=customer.email, password=password)
    return workspace or _create(agency, customer, now), sign_in


def _find(agency: Agency) -> Workspace | None:
    """Find it by its first channel, or by its key, because the channel may have another number now."""
    channel = (
        Channel.objects.select_related("workspace__owner")
        .filter(platform=PLATFORM, external_id=demo_account(agency))
        .first()
    )
    if channel:
        return channel.workspace
    ours = Workspace.objects.select_related("owner").filter(agency=agency, keys__created_by=BOOTSTRAP.label)
    return ours.order_by("id").first()


def demo_account(agency: Agency) -> str:
    """Return the account of the demo workspace's channel. No provider knows it."""
    return f"demo-{agency.uuid}"


def _create(agency: Agency, customer: User, now: datetime) -> Workspace:
    workspace = create_workspace(
        agency=agency,
        name="Demo Workspace",
        owner_name=customer.name,
        owner_email=customer.email,
        plan=last_plan(agency),
        business_type="salon_spa",
        ask_owner=False,
        now=now,
        by=BOOTSTRAP,
    )
    channel = connect_channel(
        workspace=workspace,
        platform=PLATFORM,
        external_id=demo_account(agency),
        name="Demo number",
        handle="+1 555 0100",
        now=now,
        by=BOOTSTRAP,
    )
    add_demo_data(workspace, channel, now=now)
    return workspace


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

    def as_json(self) -> dict[str, object]:
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
            "workspace": {"uuid": str(demo.workspace.uuid), "name": demo.workspace.name, "key": demo.key}
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
    ensure_connect_enabled(agency)
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


def ensure_connect_enabled(agency: Agency) -> None:
    """Switch channel connect on, with one return URL, if nothing was ever set and this is not production."""
    if settings.PRODUCTION or ConnectSettings.objects.filter(agency=agency).exists():
        return
    switch_connect(agency=agency, enabled=True, reason="To try it with the sandbox provider", by=BOOTSTRAP)
    set_return_urls(agency=agency, return_urls=[RETURN_URL], by=BOOTSTRAP)

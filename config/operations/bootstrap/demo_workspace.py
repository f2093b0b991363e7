"""The demo sub-account. It is known by its channel or its key, whatever it is called later."""

from datetime import datetime

from django.conf import settings

from agency.models import Agency, User
from config.operations.bootstrap.actor import BOOTSTRAP
from config.operations.bootstrap.catalogue import last_plan
from config.operations.bootstrap.demo_data import add_demo_data
from config.operations.bootstrap.users import SignIn, ensure_customer, example_address
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import connect_channel, create_workspace

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
